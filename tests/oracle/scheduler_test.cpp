#include "tests/oracle/scheduler.h"

#include <catch2/catch.hpp>
#include <vector>

using coz::kMillisecond;
using coz::Nanoseconds;
using oracle::Scheduler;

namespace {

[[noreturn]] void stop(Scheduler& scheduler) {
  for (;;) scheduler.block();
}

// When each of `fibers` has used 10 ms of processor time.
std::vector<Nanoseconds> ends(int cores, int fibers) {
  Scheduler scheduler(cores);
  std::vector<Nanoseconds> ends;
  for (int i = 0; i < fibers; ++i) {
    scheduler.spawn([&] {
      scheduler.use_cpu(10 * kMillisecond);
      ends.push_back(scheduler.now());
      stop(scheduler);
    });
  }
  scheduler.run_until(1000 * kMillisecond);
  CHECK(scheduler.now() == 1000 * kMillisecond);
  return ends;
}

}  // namespace

TEST_CASE("scheduler: with a core for each fiber they run side by side") {
  CHECK(ends(0, 3) == std::vector<Nanoseconds>(3, 10 * kMillisecond));
  CHECK(ends(3, 3) == std::vector<Nanoseconds>(3, 10 * kMillisecond));
}

TEST_CASE("scheduler: fibers share a core in turns of 3 ms") {
  // 3+3+3+3+3+3 ms, then 1 ms each.
  CHECK(ends(1, 2) == std::vector<Nanoseconds>{19 * kMillisecond, 20 * kMillisecond});
}

TEST_CASE("scheduler: a fiber that sleeps or blocks lends its core") {
  Scheduler scheduler(1);
  std::vector<Nanoseconds> times;
  const auto sleeper = scheduler.spawn([&] {
    scheduler.sleep_until(5 * kMillisecond);
    times.push_back(scheduler.now());
    scheduler.block();
    times.push_back(scheduler.now());
    stop(scheduler);
  });
  scheduler.spawn([&] {
    scheduler.use_cpu(2 * kMillisecond);
    times.push_back(scheduler.now());
    scheduler.sleep_until(6 * kMillisecond);
    scheduler.wake(sleeper, 1 * kMillisecond);
    stop(scheduler);
  });
  scheduler.run_until(10 * kMillisecond);
  CHECK(times == std::vector<Nanoseconds>{2 * kMillisecond, 5 * kMillisecond, 7 * kMillisecond});
}

TEST_CASE("scheduler: a fiber that wakes up takes the core of one that has had more") {
  Scheduler scheduler(1);
  std::vector<Nanoseconds> times;
  scheduler.spawn([&] {
    scheduler.sleep_until(2 * kMillisecond);
    times.push_back(scheduler.now());
    scheduler.use_cpu(1 * kMillisecond);
    times.push_back(scheduler.now());
    stop(scheduler);
  });
  const auto other = scheduler.spawn([&] {
    scheduler.use_cpu(10 * kMillisecond);
    times.push_back(scheduler.now());
    stop(scheduler);
  });
  scheduler.run_until(20 * kMillisecond);
  CHECK(times == std::vector<Nanoseconds>{2 * kMillisecond, 3 * kMillisecond, 11 * kMillisecond});
  CHECK(scheduler.ran(other) == 10 * kMillisecond);
  CHECK(scheduler.waited(other) == 1 * kMillisecond);
}
