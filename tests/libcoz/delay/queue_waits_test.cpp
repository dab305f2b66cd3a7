// Waits at queues: which are counted, for whom, and for how long.
#include <catch2/catch.hpp>
#include <vector>

#include "delay/call_rules.h"
#include "delay/queue_waits.h"
#include "tests/libcoz/delay/delays_world.h"

using namespace delays_world;

namespace {

constexpr std::uintptr_t kRole = 40;

std::vector<coz::QueueWaits::Wait> waits_of(const coz::QueueWaits& waits) {
  std::vector<coz::QueueWaits::Wait> found;
  waits.for_each([&](const coz::QueueWaits::Wait& wait) { found.push_back(wait); });
  return found;
}

// Waits for `kCondition`, which the thread in slot 2 signals after some time.
void wait_for_condition(Thread& waits, World& world, Nanoseconds time) {
  coz::rules::wait_for_condition(
      waits.delays, {kCondition, kMutex, kRole}, [] { return false; },
      [&](Nanoseconds) {
        clock_now += time;
        world.wakers->record(kCondition, {0, 2, clock_now});
        return 0;
      },
      [](int) { return WakeSource::kThread; }, [] { return Nanoseconds{0}; });
}

}  // namespace

TEST_CASE("waits for the same object and waker add up") {
  coz::QueueWaits waits;
  CHECK_FALSE(waits.any());
  waits.begin(100);
  CHECK(waits.since() == 100);
  waits.end(kCondition, 2, 130);
  CHECK(waits.since() == 0);
  waits.begin(200);
  waits.end(kCondition, 2, 205);
  waits.begin(300);
  waits.end(kCondition, 3, 301);
  const auto found = waits_of(waits);
  REQUIRE(found.size() == 2);
  CHECK(found[0].waited == 35);
  CHECK(found[0].waker == 2);
  CHECK(found[1].waited == 1);
}

TEST_CASE("more pairs than there is room for are kept as one sum") {
  coz::QueueWaits waits;
  constexpr std::uint32_t kMany = 2 * coz::QueueWaits::kPairs;
  for (std::uint32_t waker = 1; waker <= kMany; ++waker) {
    waits.begin(100);
    waits.end(kCondition, waker, 101);
  }
  const auto found = waits_of(waits);
  REQUIRE(found.size() == coz::QueueWaits::kPairs + 1);
  CHECK(found.back().waker == coz::QueueWaits::kUnknownWaker);
  CHECK(found.back().waited == kMany - coz::QueueWaits::kPairs);
}

TEST_CASE("a wait that was cancelled does not count") {
  coz::QueueWaits waits;
  waits.begin(100);
  waits.cancel();
  waits.end(kCondition, 2, 130);
  CHECK_FALSE(waits.any());
}

TEST_CASE("a wait for a condition counts for the thread that signalled it") {
  World world;
  Thread waits(world, 1);
  wait_for_condition(waits, world, 3 * kMillisecond);
  const auto found = waits_of(waits.state.queue_waits);
  REQUIRE(found.size() == 1);
  CHECK(found[0].object == kCondition);
  CHECK(found[0].waker == 2);
  CHECK(found[0].waited == 3 * kMillisecond);
  CHECK(found[0].role == kRole);
}

TEST_CASE("a wait for a lock, and one that a time-out ended, are not waits at a queue") {
  World world;
  Thread waits(world, 1);
  const auto source = GENERATE(WakeSource::kThread, WakeSource::kExternal);
  const auto waits_for =
      source == WakeSource::kThread ? coz::WaitsFor::kLock : coz::WaitsFor::kQueue;
  coz::rules::wait(
      waits.delays, kMutex,
      [] {
        clock_now += kMillisecond;
        return 0;
      },
      [=](int) { return source; }, waits_for);
  CHECK_FALSE(waits.state.queue_waits.any());
  CHECK(waits.state.queue_waits.since() == 0);
}

TEST_CASE("releases of a mutex count, signals do not") {
  World world;
  Thread a(world, 1);
  coz::rules::release_mutex(a.delays, kMutex, [] { return false; }, [] { return 0; });
  coz::rules::release(a.delays, kMutex, [] { return 0; });
  coz::rules::signal_condition(a.delays, kCondition, [] { return 0; });
  CHECK(a.state.releases == 2);
}

TEST_CASE("pauses that take processor time are timed, whatever the thread has waited for") {
  static Nanoseconds processor;
  World world;
  coz::DelayEnvironment environment = world.environment;
  environment.processor_time = []() noexcept { return processor += 700; };
  environment.pauses_busily = true;
  coz::DelayState state;
  coz::ThreadDelays delays(state, environment);
  world.global.raise_to(5 * kDelay);
  delays.settle();
  CHECK(state.pause_cost == 700);
}

TEST_CASE("the pauses of a thread that has waited at a queue are timed") {
  static Nanoseconds processor;
  World world;
  coz::DelayEnvironment environment = world.environment;
  environment.processor_time = []() noexcept { return processor += 700; };
  coz::DelayState state;
  coz::ThreadDelays delays(state, environment);
  world.global.raise_to(5 * kDelay);
  delays.settle();
  CHECK(state.pause_cost == 0);
  state.queue_waits.begin(100);
  state.queue_waits.end(kCondition, 2, 101);
  world.global.raise_to(10 * kDelay);
  delays.settle();
  CHECK(state.pause_cost == 700);
}

TEST_CASE("waits outside count as waits at a queue once other threads end nearly all of them") {
  World world;
  Thread loop(world, 1);
  enum class EndedBy { kInput, kThread, kThreadBefore };
  Nanoseconds seen_since = 0;
  const auto wait = [&](EndedBy ended_by, Nanoseconds time = 100) {
    ++clock_now;
    coz::rules::wait_for_outside(
        loop.delays,
        [&] {
          seen_since = loop.state.queue_waits.since();
          clock_now += time;
          if (ended_by == EndedBy::kThread) world.wakers->record(kCondition, {0, 2, clock_now});
          return 1L;
        },
        [&](long) { return ended_by == EndedBy::kInput ? coz::kNoObject : kCondition; });
  };
  wait(EndedBy::kThread);
  CHECK(seen_since == 0);
  CHECK(waits_of(loop.state.queue_waits).empty());
  wait(EndedBy::kThread);
  CHECK(seen_since == clock_now - 100);  // readers see it while it lasts
  wait(EndedBy::kThreadBefore, 1);       // nothing to wait for
  wait(EndedBy::kThread);
  const auto found = waits_of(loop.state.queue_waits);
  REQUIRE(found.size() == 1);
  CHECK(found[0].object == kCondition);
  CHECK(found[0].waker == 2);
  CHECK(found[0].waited == 200);

  wait(EndedBy::kInput, 1000);
  CHECK(loop.state.queue_waits.since() == 0);
  for (int i = 0; i < 3; ++i) wait(EndedBy::kThread);
  CHECK(seen_since == 0);
  CHECK(waits_of(loop.state.queue_waits)[0].waited == 200);
  for (int i = 0; i < 200; ++i) wait(EndedBy::kThread);
  CHECK(seen_since != 0);
}
