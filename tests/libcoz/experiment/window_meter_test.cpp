#include "experiment/window_meter.h"

#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

using coz::kMicrosecond;
using coz::kMillisecond;
using coz::Nanoseconds;
using coz::Operations;
using coz::Point;
using coz::PointKind;
using coz::PointResult;
using coz::WindowMeter;

namespace {

constexpr Nanoseconds kStart = 5000000 * kMillisecond;

// A program whose events happen at given effective times, and an experimenter that polls.
class Simulation {
 public:
  Point& point(PointKind kind, const char* name, bool is_timed) {
    Point* point = points->find_or_add(kind, name);
    REQUIRE(point != nullptr);
    point->times_visits = is_timed;
    return *point;
  }

  void visit(Point& point) const {
    if (point.times_visits) {
      point.visit([this] { return time; });
    } else {
      point.counter.count.fetch_add(1);  // as the classic header does
    }
  }

  void every(Nanoseconds period, Nanoseconds phase, std::function<void()> what) {
    events.push_back({kStart + phase, period, std::move(what)});
  }

  void run_until(Nanoseconds end, Nanoseconds polls_every = 0) {
    Nanoseconds next_poll = polls_every > 0 ? time + polls_every : end + 1;
    for (;;) {
      Event* next = nullptr;
      for (Event& event : events) {
        if (next == nullptr || event.next < next->next) next = &event;
      }
      const Nanoseconds event_at = next != nullptr ? next->next : end + 1;
      if (std::min(event_at, next_poll) > end) break;
      time = std::min(event_at, next_poll);
      if (event_at <= next_poll) {
        next->what();
        next->next += next->period;
      } else {
        meter.poll(time);
        next_poll += polls_every;
      }
    }
    time = end;
  }

  std::vector<PointResult> measure(Nanoseconds open, Nanoseconds close, Nanoseconds polls_every) {
    run_until(kStart + open);
    meter.open(time);
    run_until(kStart + close, polls_every);
    meter.request_last_visits(time);
    for (int i = 0; i < 1000 && !meter.has_last_visits(); ++i)
      run_until(time + polls_every, polls_every);
    return meter.results(time);
  }

  struct Event {
    Nanoseconds next;
    Nanoseconds period;
    std::function<void()> what;
  };

  std::unique_ptr<coz::PointRegistry> points = std::make_unique<coz::PointRegistry>();
  Operations operations;
  WindowMeter meter{*points, operations};
  Nanoseconds time = kStart;
  std::vector<Event> events;
};

double period_of(const PointResult& result) {
  REQUIRE(result.visits > 0);
  return static_cast<double>(result.elapsed) / static_cast<double>(result.visits);
}

}  // namespace

TEST_CASE("a window between two visits gives the exact period, wherever its edges fall") {
  const Nanoseconds period = 7 * kMillisecond + 3;
  const Nanoseconds open = GENERATE(0, 1, 2, 5, 6) * kMillisecond + 20 * kMillisecond;
  const Nanoseconds close = open + GENERATE(36, 38, 40, 41) * kMillisecond;
  const PointKind kind = GENERATE(PointKind::kThroughput, PointKind::kArrival);
  Simulation program;
  Point& point = program.point(kind, "item", true);
  program.every(period, kMillisecond, [&] { program.visit(point); });
  const auto results = program.measure(open, close, 3 * kMillisecond);
  REQUIRE(results.size() == 1);
  CHECK(results[0].name == "item");
  CHECK(results[0].kind == kind);
  CHECK(results[0].visits >= 5);
  CHECK(results[0].visits <= 7);
  CHECK(results[0].elapsed == static_cast<Nanoseconds>(results[0].visits) * period);
}

TEST_CASE("a window shorter than a period still measures one") {
  Simulation program;
  Point& point = program.point(PointKind::kThroughput, "item", true);
  program.every(100 * kMillisecond, 30 * kMillisecond, [&] { program.visit(point); });
  SECTION("when a visit falls in it") {
    const auto results = program.measure(120 * kMillisecond, 140 * kMillisecond, kMillisecond);
    CHECK(results.at(0).visits == 1);
    CHECK(results.at(0).elapsed == 100 * kMillisecond);
  }
  SECTION("and says nothing when none does") {
    const auto results = program.measure(140 * kMillisecond, 160 * kMillisecond, kMillisecond);
    CHECK(results.at(0).visits == 0);
    CHECK(results.at(0).elapsed == 20 * kMillisecond);
  }
}

TEST_CASE("a window is divided by the first visit after half of it") {
  const bool marks = GENERATE(true, false);
  Simulation program;
  Point& point = program.point(PointKind::kThroughput, "item", marks);
  // 10 ms between visits before 150 ms, 5 ms from there on.
  program.every(10 * kMillisecond, 0, [&] { program.visit(point); });
  program.every(10 * kMillisecond, 155 * kMillisecond, [&] { program.visit(point); });
  program.run_until(kStart + 51 * kMillisecond);
  program.meter.open(program.time);
  program.run_until(kStart + 149 * kMillisecond, 100 * kMicrosecond);
  program.meter.halve(program.time);
  program.run_until(kStart + 249 * kMillisecond, 100 * kMicrosecond);
  program.meter.request_last_visits(program.time);
  program.run_until(program.time + 20 * kMillisecond, 100 * kMicrosecond);
  REQUIRE(program.meter.has_last_visits());
  const PointResult result = program.meter.results(program.time).at(0);
  CHECK(result.half_visits == 9);
  CHECK(static_cast<double>(result.half_elapsed) == Approx(90e6).epsilon(0.01));
  CHECK(result.visits == 29);
  CHECK(static_cast<double>(result.elapsed) == Approx(190e6).epsilon(0.01));
}

TEST_CASE("a window with too few visits has no halves") {
  Simulation program;
  Point& point = program.point(PointKind::kThroughput, "item", true);
  program.every(100 * kMillisecond, 30 * kMillisecond, [&] { program.visit(point); });
  // The first visit comes after the half, or none comes in the second.
  const Nanoseconds open = GENERATE(0, 120) * kMillisecond;
  const Nanoseconds half = GENERATE(10, 50) * kMillisecond;
  program.run_until(kStart + open);
  program.meter.open(program.time);
  program.run_until(program.time + half, kMillisecond);
  program.meter.halve(program.time);
  program.run_until(kStart + open + 60 * kMillisecond, kMillisecond);
  program.meter.request_last_visits(program.time);
  program.run_until(program.time + 110 * kMillisecond, kMillisecond);
  const PointResult result = program.meter.results(program.time).at(0);
  CHECK(result.visits == 1);
  CHECK(result.half_visits == 0);
  static_cast<void>(point);
}

TEST_CASE("several threads that visit one point together give its common period") {
  Simulation program;
  Point& point = program.point(PointKind::kThroughput, "item", true);
  program.every(10 * kMillisecond, 0, [&] { program.visit(point); });
  program.every(10 * kMillisecond, 5 * kMillisecond, [&] { program.visit(point); });
  const auto results = program.measure(22 * kMillisecond, 222 * kMillisecond, kMillisecond);
  CHECK(period_of(results.at(0)) == 5 * kMillisecond);
}

TEST_CASE("points that a program only counts are measured by polls, as finely as these come") {
  const Nanoseconds period = 7 * kMillisecond;
  const Nanoseconds poll = 100 * kMicrosecond;
  const Nanoseconds open = GENERATE(20, 21, 23, 26) * kMillisecond;
  Simulation program;
  Point& point = program.point(PointKind::kThroughput, "item", false);
  program.every(period, 0, [&] { program.visit(point); });
  const auto results = program.measure(open, open + 50 * kMillisecond, poll);
  REQUIRE(results.size() == 1);
  const auto exact = static_cast<Nanoseconds>(results[0].visits) * period;
  CHECK(results[0].visits >= 6);
  CHECK(std::abs(results[0].elapsed - exact) <= poll);
}

TEST_CASE("fine polls are needed exactly where something is only counted") {
  Simulation program;
  program.point(PointKind::kThroughput, "marks", true);
  program.meter.open(kStart);
  CHECK_FALSE(program.meter.needs_fine_polls());
  program.point(PointKind::kThroughput, "counts", false);
  program.meter.open(kStart);
  CHECK(program.meter.needs_fine_polls());
}

TEST_CASE("an idle point neither holds up the others nor hides them") {
  const bool marks = GENERATE(true, false);
  Simulation program;
  Point& idle = program.point(PointKind::kThroughput, "idle", marks);
  program.point(PointKind::kThroughput, "never", marks);
  Point& busy = program.point(PointKind::kThroughput, "busy", true);
  program.visit(idle);  // before the window
  program.every(4 * kMillisecond, kMillisecond, [&] { program.visit(busy); });
  const auto results = program.measure(20 * kMillisecond, 80 * kMillisecond, kMillisecond);
  CHECK(program.meter.has_last_visits());
  CHECK_FALSE(idle.edge.is_wanted());
  // What was never visited is no news; what was visited before has no visits here.
  REQUIRE(results.size() == 2);
  CHECK(results[0].name == "idle");
  CHECK(results[0].visits == 0);
  CHECK(results[1].name == "busy");
  CHECK(period_of(results[1]) == 4 * kMillisecond);
}

TEST_CASE("the window is done when each point that was visited has been visited once more") {
  Simulation program;
  Point& slow = program.point(PointKind::kThroughput, "slow", true);
  Point& fast = program.point(PointKind::kThroughput, "fast", true);
  program.meter.open(program.time);
  for (Point* point : {&slow, &fast, &fast}) program.visit(*point);
  program.meter.request_last_visits(kStart + 10);
  CHECK_FALSE(program.meter.has_last_visits());
  program.visit(fast);
  program.meter.poll(kStart + 20);
  CHECK_FALSE(program.meter.has_last_visits());
  program.visit(slow);
  program.meter.poll(kStart + 30);
  CHECK(program.meter.has_last_visits());
}

TEST_CASE("a point that falls silent counts without its last edge if it had many visits") {
  Simulation program;
  Point& point = program.point(PointKind::kThroughput, "item", GENERATE(true, false));
  const int visits = GENERATE(21, 20, 2);
  program.meter.open(program.time);
  for (int i = 0; i < visits; ++i) {
    program.time += kMillisecond;
    program.visit(point);
    program.meter.poll(program.time);
  }
  program.meter.request_last_visits(kStart + 30 * kMillisecond);
  program.meter.poll(kStart + 60 * kMillisecond);
  CHECK_FALSE(program.meter.has_last_visits());
  const auto results = program.meter.results(kStart + 60 * kMillisecond);
  REQUIRE(results.size() == 1);
  if (visits == 21) {
    CHECK(results[0].visits == 20);
    // The silence is part of what was seen.
    CHECK(std::abs(results[0].elapsed - 59 * kMillisecond) <= kMillisecond);
  } else {
    CHECK(results[0].visits == 0);
  }
}

TEST_CASE("windows follow each other without a trace of the one before") {
  Simulation program;
  Point& point = program.point(PointKind::kThroughput, "item", true);
  program.every(5 * kMillisecond, 0, [&] { program.visit(point); });
  program.measure(12 * kMillisecond, 52 * kMillisecond, kMillisecond);
  program.events[0].period = 9 * kMillisecond;
  const auto results = program.measure(100 * kMillisecond, 200 * kMillisecond, kMillisecond);
  CHECK(period_of(results.at(0)) == 9 * kMillisecond);
}

TEST_CASE("a point that appears within a window is measured from the next one on") {
  Simulation program;
  program.meter.open(program.time);
  Point& late = program.point(PointKind::kThroughput, "late", true);
  program.visit(late);
  program.meter.request_last_visits(kStart + 10);
  CHECK(program.meter.has_last_visits());
  CHECK(program.meter.results(kStart + 10).empty());
}

TEST_CASE("latency: the time average of the number in progress, of a queue with known answer") {
  // One operation each 10 ms, which takes 35 ms: 3.5 in progress on average.
  Simulation program;
  const bool marks = GENERATE(true, false);
  Point& begin = program.point(PointKind::kBegin, "request", marks);
  Point& end = program.point(PointKind::kEnd, "request", marks);
  program.every(10 * kMillisecond, 0, [&] { program.visit(begin); });
  program.every(10 * kMillisecond, 35 * kMillisecond, [&] { program.visit(end); });
  const auto results = program.measure(100 * kMillisecond, 300 * kMillisecond, 250 * kMicrosecond);
  REQUIRE(results.size() == 1);
  const PointResult& result = results[0];
  CHECK(result.name == "request");
  CHECK(result.kind == PointKind::kBegin);
  CHECK(result.arrivals == 20);
  CHECK(result.departures == 20);
  CHECK(result.elapsed == 200 * kMillisecond);
  CHECK(result.in_progress == Approx(3.5).epsilon(marks ? 1e-9 : 0.02));
  const double latency = result.in_progress * static_cast<double>(result.elapsed) /
                         static_cast<double>(result.arrivals);
  CHECK(latency == Approx(35.0 * kMillisecond).epsilon(marks ? 1e-9 : 0.02));
}

TEST_CASE("latency: visits through our header need no polls, and the edges may fall anywhere") {
  const Nanoseconds open = 100 * kMillisecond + GENERATE(0, 1, 4, 9) * kMillisecond;
  const Nanoseconds length = GENERATE(13, 57, 100) * kMillisecond;
  Simulation program;
  Point& begin = program.point(PointKind::kBegin, "request", true);
  Point& end = program.point(PointKind::kEnd, "request", true);
  program.every(10 * kMillisecond, 0, [&] { program.visit(begin); });
  program.every(10 * kMillisecond, 5 * kMillisecond, [&] { program.visit(end); });
  const auto results = program.measure(open, open + length, kMillisecond * 1000);
  // In progress for the first half of each 10 ms: counted up here in steps of 1 ms.
  double busy = 0;
  for (Nanoseconds t = open; t < open + length; t += kMillisecond) {
    if (t % (10 * kMillisecond) < 5 * kMillisecond) ++busy;
  }
  const double expected = busy / static_cast<double>(length / kMillisecond);
  CHECK(results.at(0).in_progress == Approx(expected).epsilon(1e-9));
}

TEST_CASE("latency: operations under way during the whole window count, with no arrivals") {
  Simulation program;
  Point& begin = program.point(PointKind::kBegin, "request", true);
  program.point(PointKind::kEnd, "request", true);
  program.visit(begin);
  program.visit(begin);
  const auto results = program.measure(10 * kMillisecond, 60 * kMillisecond, kMillisecond);
  REQUIRE(results.size() == 1);
  CHECK(results[0].arrivals == 0);
  CHECK(results[0].in_progress == Approx(2.0));
  CHECK(program.meter.has_last_visits());
}

TEST_CASE("latency: a queue that grows has arrivals beyond its departures") {
  Simulation program;
  Point& begin = program.point(PointKind::kBegin, "request", true);
  Point& end = program.point(PointKind::kEnd, "request", true);
  program.every(10 * kMillisecond, kMillisecond, [&] { program.visit(begin); });
  program.every(20 * kMillisecond, 2 * kMillisecond, [&] { program.visit(end); });
  const auto results = program.measure(0, 200 * kMillisecond, kMillisecond);
  CHECK(results.at(0).arrivals == 20);
  CHECK(results.at(0).departures == 10);
}

TEST_CASE("latency: nothing in progress and nothing new is no result") {
  Simulation program;
  Point& begin = program.point(PointKind::kBegin, "request", true);
  Point& end = program.point(PointKind::kEnd, "request", true);
  program.point(PointKind::kBegin, "no end", true);
  program.visit(begin);
  program.visit(end);
  CHECK(program.measure(10 * kMillisecond, 60 * kMillisecond, kMillisecond).empty());
}

TEST_CASE("latency: a window has the durations of the operations that ended within it") {
  Simulation program;
  program.point(PointKind::kBegin, "request", true);
  program.point(PointKind::kEnd, "request", true);
  const auto name = *program.operations.find_or_add("request");
  const auto run = [&](std::uint64_t identity, Nanoseconds duration) {
    program.operations.begin(name, identity, program.time);
    program.operations.end(name, identity, program.time + duration);
  };
  run(1, 3 * kMillisecond);
  program.points->find(PointKind::kBegin, "request")->visit([] { return Nanoseconds{0}; });
  program.meter.open(program.time);
  run(2, 5 * kMillisecond);
  run(3, 5 * kMillisecond);
  run(4, 50 * kMillisecond);
  program.meter.request_last_visits(program.time + kMillisecond);
  run(5, 5 * kMillisecond);
  const auto results = program.meter.results(program.time + kMillisecond);
  REQUIRE(results.size() == 1);
  REQUIRE(results[0].durations.size() == 2);
  CHECK(results[0].durations[0].number == coz::duration_bucket(5 * kMillisecond));
  CHECK(results[0].durations[0].count == 2);
  CHECK(results[0].durations[1].number == coz::duration_bucket(50 * kMillisecond));
  CHECK(results[0].durations[1].count == 1);
}
