// What another thread has overslept, yields, and the timers that pauses hold.
#include <catch2/catch.hpp>

#include "tests/libcoz/delay/delays_world.h"

using namespace delays_world;

TEST_CASE("what a thread has overslept serves the next thread of its kind, once") {
  World world;
  constexpr std::uintptr_t kKind = 0x4321;
  coz::DelayState states[4];
  Nanoseconds served = 0;
  // Each thread pays 10 delays, and sleeps 3 too long.
  const auto live = [&](coz::DelayState& state, std::uintptr_t kind, Nanoseconds oversleeps) {
    ThreadDelays delays(state, world.environment);
    overshoot = oversleeps;
    slept = 0;
    delays.begin(served, kind);
    served += 10 * kDelay;
    world.global.raise_to(served);
    delays.before_ending(kMutex);
    return slept;
  };
  CHECK(live(states[0], kKind, 3 * kDelay) == 13 * kDelay);
  CHECK(live(states[1], kKind + 1, 0) == 10 * kDelay);
  CHECK(live(states[2], kKind, 0) == 7 * kDelay);
  CHECK(live(states[3], kKind, 0) == 10 * kDelay);
}

TEST_CASE("the time for which a thread gave its processor away counts as a pause") {
  World world;
  Thread a(world, 1);
  world.global.raise_to(5 * kDelay);
  a.delays.after_yielding(0, 2 * kDelay);
  CHECK(a.local() == 2 * kDelay);
  a.delays.after_yielding(2 * kDelay, 10 * kDelay);
  CHECK(a.local() == 5 * kDelay);
  // Nobody has served more than G, and no time is saved for later.
  world.global.raise_to(6 * kDelay);
  a.delays.settle();
  CHECK(slept == kDelay);
}

TEST_CASE("a yield that returns at once is no pause") {
  World world;
  Thread a(world, 1);
  world.global.raise_to(5 * kDelay);
  a.delays.after_yielding(0, coz::kMinPause - 1);
  CHECK(a.local() == 0);
}

TEST_CASE("a yield in which the thread was charged or paused by its handler is no further pause") {
  World world;
  Thread a(world, 1);
  world.global.raise_to(5 * kDelay);
  a.state.clock.start_at(kDelay);
  a.delays.after_yielding(0, 2 * kDelay);
  CHECK(a.local() == kDelay);
}

TEST_CASE("a thread's own timer is held while it waits, and runs again once, after its pause") {
  World world;
  Thread a(world, 1);
  a.state.has_timer = true;
  REQUIRE(a.delays.before_blocking());
  CHECK(a.state.timer_held);
  CHECK(timer_stops == 1);
  world.global.raise_to(GENERATE(0, 10) * kDelay);
  a.delays.after_blocking(WakeSource::kExternal, coz::kNoObject);
  CHECK_FALSE(a.state.timer_held);
  CHECK(timer_runs == 1);
  a.delays.before_waking(kMutex);
  CHECK(timer_runs == 1);
}

TEST_CASE("a thread's own timer is held in a pause, and a thread without one has none to hold") {
  World world;
  static Thread* in_pause;
  Thread a(world, 1);
  in_pause = &a;
  a.state.has_timer = GENERATE(true, false);
  world.global.raise_to(10 * kDelay);
  during_sleep = [] { CHECK(in_pause->state.timer_held == in_pause->state.has_timer); };
  a.delays.settle();
  CHECK(timer_stops == (a.state.has_timer ? 1 : 0));
  CHECK(timer_runs == timer_stops);
}
