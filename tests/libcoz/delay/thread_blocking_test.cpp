// Who blocks, and what it is credited once it is woken up.
#include <catch2/catch.hpp>

#include "tests/libcoz/delay/delays_world.h"

using namespace delays_world;

namespace {

// In which order they are looked at must not matter.
void wake_by_signal_and_mutex(Thread& thread) {
  const bool condition_first = GENERATE(true, false);
  thread.delays.after_blocking(WokenBy::kThread, {condition_first ? kCondition : kMutex,
                                                  condition_first ? kMutex : kCondition});
}

}  // namespace

TEST_CASE("before blocking: drain and publish, without a pause, and remember the place") {
  World world;
  Thread a(world, 1);
  world.global.raise_to(5 * kDelay);
  a.state.deferred = 2 * kDelay;
  a.delays.before_blocking();
  CHECK(a.state.blocked);
  CHECK_FALSE(a.state.busy);
  CHECK(a.state.deferred == 0);
  CHECK(sleeps == 0);
  CHECK(a.state.blocked_at.local == 2 * kDelay);
  CHECK(a.state.blocked_at.since == clock_now);
}

TEST_CASE("a thread woken by a thread takes over the waker's delays, then pays what is left") {
  World world;
  Thread waits(world, 1);
  waits.delays.before_blocking();
  world.wakers->record(kMutex, {4 * kDelay, 2});
  world.global.raise_to(7 * kDelay);
  clock_now += 10 * kMillisecond;
  waits.delays.after_blocking(WokenBy::kThread, {kMutex});
  CHECK_FALSE(waits.state.blocked);
  CHECK(slept == 3 * kDelay);
  CHECK(waits.local() == 7 * kDelay);
}

TEST_CASE("a thread is not credited more than it was blocked for") {
  World world;
  Thread waits(world, 1);
  waits.delays.before_blocking();
  world.wakers->record(kMutex, {4 * kDelay, 2});
  world.global.raise_to(4 * kDelay);
  clock_now += kDelay;
  waits.delays.after_blocking(WokenBy::kThread, {kMutex});
  CHECK(slept == 3 * kDelay);
}

TEST_CASE("waits that needed no credit are saved for one that is too short") {
  World world;
  Thread waits(world, 1);
  // Ten waits of a tenth of d each, while the line is not sampled.
  for (int i = 0; i < 10; ++i) {
    waits.delays.before_blocking();
    world.wakers->record(kMutex, {0, 2});
    clock_now += kDelay / 10;
    waits.delays.after_blocking(WokenBy::kThread, {kMutex});
  }
  // Then the holder of the lock is sampled in it, during a wait as short as the others.
  waits.delays.before_blocking();
  world.wakers->record(kMutex, {kDelay, 2});
  world.global.raise_to(kDelay);
  clock_now += kDelay / 10;
  waits.delays.after_blocking(WokenBy::kThread, {kMutex});
  CHECK(sleeps == 0);
  CHECK(waits.local() == kDelay);
}

TEST_CASE("of several objects the one whose waker had served least counts") {
  World world;
  Thread waits(world, 1);
  waits.delays.before_blocking();
  const bool mutex_least = GENERATE(true, false);
  world.wakers->record(kCondition, {(mutex_least ? 6 : 4) * kDelay, 2});
  world.wakers->record(kMutex, {(mutex_least ? 4 : 6) * kDelay, 3});
  world.global.raise_to(7 * kDelay);
  clock_now += 10 * kMillisecond;
  waits.delays.after_blocking(WokenBy::kThread, {kCondition, kMutex});
  CHECK(slept == 3 * kDelay);
}

TEST_CASE("a waker who had released earlier has served more by the time of the last release") {
  World world;
  Thread waits(world, 1);
  waits.delays.before_blocking();
  // Signalled, and then waited for the mutex, whose holder paused for three delays meanwhile.
  const bool mutex_last = GENERATE(true, false);
  world.wakers->record(mutex_last ? kCondition : kMutex, {0, 2, clock_now});
  clock_now += 4 * kDelay;
  world.wakers->record(mutex_last ? kMutex : kCondition, {3 * kDelay, 3, clock_now});
  world.global.raise_to(3 * kDelay);
  clock_now += kDelay;
  wake_by_signal_and_mutex(waits);
  CHECK(sleeps == 0);
  CHECK(waits.local() == 3 * kDelay);
}

TEST_CASE("effective time goes on at the latest of the releases' effective times") {
  World world;
  Thread waits(world, 1);
  waits.delays.before_blocking();
  world.wakers->record(kCondition, {0, 2, clock_now});
  clock_now += 2 * kDelay;
  world.wakers->record(kMutex, {5 * kDelay, 3, clock_now});
  world.global.raise_to(9 * kDelay);
  clock_now += 20 * kDelay;
  waits.delays.after_blocking(WokenBy::kThread, {kCondition, kMutex});
  // Two delays of time went by since the signal.
  CHECK(slept == 7 * kDelay);
}

TEST_CASE("a mutex for which nobody waited held up nobody who was signalled") {
  World world;
  Thread waits(world, 1);
  waits.delays.before_blocking();
  world.wakers->record(kMutex, {0, 3});
  clock_now += 10 * kDelay;
  world.wakers->record(kCondition, {6 * kDelay, 2, clock_now});
  world.global.raise_to(6 * kDelay);
  clock_now += kDelay;
  wake_by_signal_and_mutex(waits);
  CHECK(sleeps == 0);
  CHECK(waits.local() == 6 * kDelay);
}

TEST_CASE("giving back a mutex notes the time if another waits for it") {
  World world;
  Thread holds(world, 1);
  const bool is_waited_for = GENERATE(true, false);
  world.global.raise_to(kDelay);
  bool asked_when_settled = false;
  coz::rules::release_mutex(
      holds.delays, kMutex,
      [&] {
        asked_when_settled = holds.local() == kDelay;
        return is_waited_for;
      },
      [] {});
  CHECK(asked_when_settled);
  REQUIRE(world.wakers->find(kMutex));
  CHECK(world.wakers->find(kMutex)->at == (is_waited_for ? clock_now : 0));
}

TEST_CASE("the mutex that a waiter released itself gives way to the condition") {
  World world;
  Thread waits(world, 1);
  waits.delays.before_waking(kMutex);  // cond_wait releases the mutex
  waits.delays.before_blocking();
  world.wakers->record(kCondition, {6 * kDelay, 2});
  world.global.raise_to(7 * kDelay);
  clock_now += 10 * kMillisecond;
  waits.delays.after_blocking(WokenBy::kThread, {kCondition, kMutex});
  CHECK(slept == kDelay);
}

TEST_CASE("without a record of the waker, what G had reached is credited") {
  World world;
  Thread waits(world, 1);
  waits.delays.before_blocking();
  world.global.raise_to(7 * kDelay);
  clock_now += 10 * kMillisecond;
  waits.delays.after_blocking(WokenBy::kThread, {kMutex});
  CHECK(sleeps == 0);
  CHECK(waits.local() == 7 * kDelay);
}

TEST_CASE("samples taken while blocked are booked on top of the credit") {
  World world;
  Thread waits(world, 1);
  waits.delays.before_blocking();
  waits.delays.sampled(kLine);
  world.wakers->record(kMutex, {4 * kDelay, 2});
  world.global.raise_to(4 * kDelay);
  clock_now += 10 * kMillisecond;
  waits.delays.after_blocking(WokenBy::kThread, {kMutex});
  CHECK(waits.local() == 5 * kDelay);
  CHECK(world.global.get() == 5 * kDelay);
  CHECK(sleeps == 0);
}

TEST_CASE("woken by I/O, a time-out or a stranger, a thread pays everything") {
  World world;
  Thread waits(world, 1);
  waits.delays.before_blocking();
  world.wakers->record(kMutex, {4 * kDelay, 2});
  world.global.raise_to(7 * kDelay);
  clock_now += 10 * kMillisecond;
  waits.delays.after_blocking(WokenBy::kStranger, {kMutex});
  CHECK(slept == 7 * kDelay);
  CHECK(waits.local() == 7 * kDelay);
}

TEST_CASE("a call that did not block earns no credit and costs no pause") {
  World world;
  Thread tries(world, 1);
  tries.delays.before_blocking();
  tries.delays.sampled(kLine);
  world.wakers->record(kMutex, {4 * kDelay, 2});
  world.global.raise_to(7 * kDelay);
  clock_now += 10 * kMillisecond;
  tries.delays.after_blocking(WokenBy::kNobody, {kMutex});
  CHECK(sleeps == 0);
  CHECK(tries.local() == kDelay);
  CHECK(tries.state.deferred == 0);
  CHECK_FALSE(tries.state.blocked);
}
