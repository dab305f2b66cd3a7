#include "progress/point.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "progress/point_registry.h"

using coz::EdgeVisit;
using coz::Nanoseconds;
using coz::Point;
using coz::PointKind;
using coz::PointRegistry;

namespace {

std::unique_ptr<PointRegistry> make_registry() { return std::make_unique<PointRegistry>(); }

auto at(Nanoseconds time) {
  return [time] { return time; };
}

}  // namespace

TEST_CASE("a point begins with the classic counter {count, backoff}") {
  Point point;
  auto* classic = reinterpret_cast<std::size_t*>(&point);
  classic[0] += 3;
  CHECK(point.visits() == 3);
  CHECK(sizeof(Point::Counter) == 2 * sizeof(std::size_t));
}

TEST_CASE("the clock is not read at a visit whose time is not asked for") {
  Point point;
  int reads = 0;
  for (int i = 0; i < 10; ++i) point.visit([&]() -> Nanoseconds { return ++reads; });
  CHECK(point.visits() == 10);
  CHECK(reads == 0);
}

TEST_CASE("a request takes the number and the time of the next visit only") {
  Point point;
  point.visit(at(10));
  point.visit(at(20));
  point.edge.request();
  CHECK_FALSE(point.edge.is_taken());
  point.visit(at(30));
  point.visit(at(40));
  REQUIRE(point.edge.is_taken());
  CHECK(point.edge.visit().number == 3);
  CHECK(point.edge.visit().time == 30);
}

TEST_CASE("a new request drops what was taken") {
  Point point;
  point.edge.request();
  point.visit(at(10));
  point.edge.request();
  CHECK_FALSE(point.edge.is_taken());
  point.visit(at(20));
  REQUIRE(point.edge.is_taken());
  CHECK(point.edge.visit().number == 2);
  CHECK(point.edge.visit().time == 20);
}

TEST_CASE("a request may be withdrawn until it is taken") {
  Point point;
  point.edge.request();
  SECTION("before") {
    point.edge.withdraw();
    CHECK_FALSE(point.edge.is_wanted());
    point.visit(at(10));
    CHECK_FALSE(point.edge.is_taken());
  }
  SECTION("after") {
    point.visit(at(10));
    point.edge.withdraw();
    CHECK(point.edge.is_taken());
    CHECK(point.edge.visit().time == 10);
  }
}

TEST_CASE("visits of all threads are counted, wherever their share is kept") {
  Point point;
  point.counter.count.fetch_add(2);  // as the classic header does
  for (std::uint32_t slot = 0; slot < 3 * Point::kShares; ++slot) point.visit(at(10), slot);
  CHECK(point.visits() == 2 + 3 * Point::kShares);
  point.edge.request();
  point.visit(at(20), 7);
  REQUIRE(point.edge.is_taken());
  CHECK(point.edge.visit().number == point.visits());
}

TEST_CASE("times of all threads are summed") {
  Point point;
  point.kind = PointKind::kEnd;
  for (std::uint32_t slot = 0; slot < 2 * Point::kShares; ++slot) point.visit(at(slot), slot);
  REQUIRE(point.times());
  CHECK(point.times()->visits == 2 * Point::kShares);
  CHECK(point.times()->times == Point::kShares * (2 * Point::kShares - 1));
}

TEST_CASE("only latency points and requested edges ask a visit for its time") {
  Point point;
  CHECK(point.wants_no_time());
  point.edge.request();
  CHECK_FALSE(point.wants_no_time());
  point.visit(at(10));
  CHECK(point.wants_no_time());
  point.kind = PointKind::kBegin;
  CHECK_FALSE(point.wants_no_time());
}

TEST_CASE("latency points sum the times of their visits, others don't") {
  Point point;
  point.kind = GENERATE(PointKind::kBegin, PointKind::kEnd);
  point.visit(at(10));
  point.visit(at(25));
  REQUIRE(point.times());
  CHECK(point.times()->times == 35);
  Point throughput;
  throughput.visit(at(10));
  CHECK(throughput.times()->visits == 0);
}

TEST_CASE("of threads that visit at once exactly one takes an edge", "[threads]") {
  Point point;
  constexpr int kRequests = 2000;
  std::atomic<bool> stop{false};
  std::atomic<int> reads{0};  // of the clock
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      while (!stop) {
        point.visit([&]() -> Nanoseconds { return ++reads; });
      }
    });
  }
  int wrong = 0;
  for (int i = 1; i <= kRequests; ++i) {
    point.edge.request();
    while (!point.edge.is_taken()) std::this_thread::yield();
    const coz::Visit visit = point.edge.visit();
    if (visit.time != i || visit.number == 0 || visit.number > point.visits()) ++wrong;
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(reads == kRequests);
}

TEST_CASE("a point is found by its kind and name, and added once") {
  const auto registry = make_registry();
  CHECK(registry->find(PointKind::kThroughput, "a") == nullptr);
  Point* a = registry->find_or_add(PointKind::kThroughput, "a");
  REQUIRE(a != nullptr);
  CHECK(a->kind == PointKind::kThroughput);
  CHECK(std::string(a->name) == "a");
  CHECK(registry->find_or_add(PointKind::kThroughput, "a") == a);
  CHECK(registry->find(PointKind::kThroughput, "a") == a);
  CHECK(registry->find_or_add(PointKind::kBegin, "a") != a);
  CHECK(registry->find_or_add(PointKind::kThroughput, "ab") != a);
  CHECK(registry->size() == 3);
}

TEST_CASE("long names are cut, and those that differ only beyond the cut are one point") {
  const auto registry = make_registry();
  const std::string longest(Point::kMaxName - 1, 'x');
  Point* point = registry->find_or_add(PointKind::kThroughput, (longest + "tail").c_str());
  REQUIRE(point != nullptr);
  CHECK(std::string(point->name) == longest);
  CHECK(registry->find(PointKind::kThroughput, longest.c_str()) == point);
  CHECK(registry->find(PointKind::kThroughput, (longest + "other").c_str()) == point);
}

TEST_CASE("a full registry still finds what it has, and adds no more") {
  const auto registry = make_registry();
  for (std::uint32_t i = 0; i < PointRegistry::kMaxPoints; ++i) {
    REQUIRE(registry->find_or_add(PointKind::kThroughput, std::to_string(i).c_str()) != nullptr);
  }
  CHECK(registry->find_or_add(PointKind::kThroughput, "one more") == nullptr);
  CHECK(registry->find_or_add(PointKind::kThroughput, "0") == &(*registry)[0]);
  CHECK(registry->size() == PointRegistry::kMaxPoints);
}

TEST_CASE("threads that add the same points agree on them", "[threads]") {
  const auto registry = make_registry();
  constexpr int kThreads = 4;
  constexpr int kNames = 100;
  std::vector<std::vector<Point*>> found(kThreads);
  std::vector<std::thread> threads;
  for (std::size_t id = 0; id < kThreads; ++id) {
    threads.emplace_back([&, id] {
      for (int i = 0; i < kNames; ++i) {
        const std::string name = std::to_string(i);
        found[id].push_back(registry->find_or_add(PointKind::kThroughput, name.c_str()));
        found[id].back()->visit(at(1));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(registry->size() == kNames);
  CHECK(
      std::all_of(found.begin(), found.end(), [&](const auto& list) { return list == found[0]; }));
  for (Point* point : found[0]) CHECK(point->visits() == kThreads);
}

TEST_CASE("only where load is amplified does an arrival ask for more than a count") {
  const auto plain = std::make_unique<coz::PointRegistry>();
  CHECK(plain->find_or_add(PointKind::kArrival, "a")->wants_no_time());
  CHECK_FALSE(plain->is_arrival(*plain->find(PointKind::kArrival, "a")));
  const auto amplified = std::make_unique<coz::PointRegistry>();
  amplified->amplify();
  CHECK_FALSE(amplified->find_or_add(PointKind::kArrival, "a")->wants_no_time());
  CHECK(amplified->find_or_add(PointKind::kThroughput, "p")->wants_no_time());
  CHECK(amplified->is_arrival(*amplified->find(PointKind::kArrival, "a")));
  CHECK_FALSE(amplified->is_arrival(*amplified->find(PointKind::kThroughput, "p")));
}

TEST_CASE("begin points are arrivals, unless there are arrival points") {
  const auto points = std::make_unique<coz::PointRegistry>();
  points->amplify();
  const coz::Point* begin = points->find_or_add(PointKind::kBegin, "request");
  const coz::Point* end = points->find_or_add(PointKind::kEnd, "request");
  CHECK(points->is_arrival(*begin));
  CHECK_FALSE(points->is_arrival(*end));
  points->find_or_add(PointKind::kArrival, "a");
  CHECK_FALSE(points->is_arrival(*begin));
}

TEST_CASE("an edge that a killed visitor was writing can be requested again after a while") {
  coz::EdgeVisit edge;
  REQUIRE(edge.request());
  bool was_refused = false;
  edge.take(
      [&] {
        was_refused = !edge.request();
        for (int window = 0; window < 20 && !edge.is_wanted(); ++window) edge.request();
        return std::uint64_t{1};
      },
      [] { return coz::Nanoseconds{0}; });
  CHECK(was_refused);
  CHECK(edge.request());
}

TEST_CASE("the first of those who get no point for want of room is told") {
  const auto registry = make_registry();
  for (std::uint32_t i = 0; i < coz::PointRegistry::kMaxPoints; ++i) {
    REQUIRE(registry->find_or_add(PointKind::kThroughput, std::to_string(i).c_str()) != nullptr);
  }
  CHECK(registry->find_or_add(PointKind::kThroughput, "one more") == nullptr);
  CHECK(registry->is_first_refused());
  CHECK_FALSE(registry->is_first_refused());
}

TEST_CASE("in a forked child points stay, and have no visits yet") {
  const auto registry = make_registry();
  Point* count = registry->find_or_add(PointKind::kThroughput, "count");
  Point* begin = registry->find_or_add(PointKind::kBegin, "latency");
  for (std::uint32_t slot = 0; slot < 40; ++slot) {
    count->visit(at(5), slot);
    begin->visit(at(5), slot);
  }
  count->counter.count.fetch_add(3);
  registry->release_lock();
  registry->forget_visits();
  CHECK(registry->size() == 2);
  CHECK(registry->find(PointKind::kThroughput, "count") == count);
  CHECK(count->visits() == 0);
  CHECK(begin->visits() == 0);
  CHECK(begin->times()->visits == 0);
  CHECK(begin->times()->times == 0);
  count->visit(at(7), 3);
  CHECK(count->visits() == 1);
}

TEST_CASE("points that are there already are amplified") {
  const auto registry = make_registry();
  Point* request = registry->find_or_add(PointKind::kBegin, "request");
  Point* done = registry->find_or_add(PointKind::kThroughput, "done");
  CHECK_FALSE(registry->is_arrival(*request));
  registry->amplify();
  CHECK(registry->is_arrival(*request));
  CHECK_FALSE(registry->is_arrival(*done));
}
