// Visits that are held up half-way (by preemption, or a pause in the sample handler) while the
// experimenter opens or closes a window.
#include <catch2/catch.hpp>
#include <memory>

#include "experiment/window_meter.h"

using namespace coz;

namespace {

constexpr Nanoseconds kStart = 100'000 * kSecond;
constexpr Nanoseconds kLength = 100 * kMillisecond;

struct Latency {
  std::unique_ptr<PointRegistry> points = std::make_unique<PointRegistry>();
  Point& begin = *points->find_or_add(PointKind::kBegin, "request");
  Point& end = *points->find_or_add(PointKind::kEnd, "request");
  Operations operations;
  WindowMeter meter{*points, operations};

  Latency() { begin.times_visits = end.times_visits = true; }
  double in_progress() const { return meter.results(kStart + kLength).at(0).in_progress; }
};

}  // namespace

TEST_CASE("a window that closes in the middle of an arrival does not count its absolute time") {
  Latency latency;
  latency.meter.open(kStart);
  latency.begin.visit([&] {
    latency.meter.request_last_visits(kStart + kLength);
    return kStart + kLength;
  });
  CHECK(latency.in_progress() <= 1.0);
}

TEST_CASE("a window that opens in the middle of an arrival does not count its absolute time") {
  Latency latency;
  latency.begin.visit([&] {
    latency.meter.open(kStart);
    return kStart;
  });
  latency.meter.poll(kStart + kLength / 2);
  latency.end.visit([] { return kStart + kLength / 2; });
  latency.meter.request_last_visits(kStart + kLength);
  CHECK(latency.in_progress() <= 1.0);
}

TEST_CASE("times and visits of a point are read together, or not at all") {
  VisitTimes times;
  times.add(5);
  times.add(7);
  REQUIRE(times.get());
  CHECK(times.get()->visits == 2);
  CHECK(times.get()->times == 12);
}

TEST_CASE("a visitor that was held up notes the number of visits of that moment") {
  auto points = std::make_unique<PointRegistry>();
  Point& point = *points->find_or_add(PointKind::kThroughput, "request");
  point.times_visits = true;
  Operations operations;
  WindowMeter meter(*points, operations);
  meter.open(0);
  point.counter.count.fetch_add(1);  // counted, and then held up
  for (int i = 1; i <= 3; ++i) point.visit([i] { return Nanoseconds{i}; });
  meter.request_last_visits(10);
  point.edge.take([&] { return point.visits(); }, [] { return Nanoseconds{11}; });  // it goes on
  meter.poll(12);
  CHECK(meter.results(12).at(0).visits == 2);  // from the second visit to the fourth
  CHECK(meter.results(12).at(0).elapsed == 10);
}

TEST_CASE("an edge that is still being written is not requested again") {
  EdgeVisit edge;
  REQUIRE(edge.request());
  edge.take([] { return std::uint64_t{1}; },
            [&] {
              CHECK_FALSE(edge.request());
              return Nanoseconds{1};
            });
  CHECK(edge.is_taken());
  CHECK(edge.request());
}
