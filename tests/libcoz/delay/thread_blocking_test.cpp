// Who blocks, and what it is credited once it is woken up.
#include <catch2/catch.hpp>
#include <vector>

#include "tests/libcoz/delay/delays_world.h"

using namespace delays_world;

namespace {

// May somebody wait for the mutex?
constexpr auto yes = [] { return true; };
constexpr auto no = [] { return false; };

// Its entry in the table is another's: nothing is known of it.
constexpr std::uintptr_t kEvicted = 0x3000;

}  // namespace

TEST_CASE("before blocking: apply charges without a pause, and remember the clock") {
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
  world.wakers->record_without_time(kMutex, 4 * kDelay, 2);
  world.global.raise_to(7 * kDelay);
  clock_now += 10 * kMillisecond;
  waits.delays.after_blocking(WakeSource::kThread, kMutex);
  CHECK_FALSE(waits.state.blocked);
  CHECK(slept == 3 * kDelay);
  CHECK(waits.local() == 7 * kDelay);
}

TEST_CASE("what a thread waited for other threads is counted") {
  World world;
  Thread waits(world, 1);
  for (const WakeSource wake_source :
       {WakeSource::kThread, WakeSource::kNone, WakeSource::kExternal}) {
    waits.delays.before_blocking();
    clock_now += 10 * kMillisecond;
    waits.delays.after_blocking(wake_source, kMutex);
  }
  CHECK(waits.state.thread_wait == 10 * kMillisecond);
}

TEST_CASE("a thread is not credited more than it was blocked for") {
  World world;
  Thread waits(world, 1);
  waits.delays.before_blocking();
  world.wakers->record_without_time(kMutex, 4 * kDelay, 2);
  world.global.raise_to(4 * kDelay);
  clock_now += kDelay;
  waits.delays.after_blocking(WakeSource::kThread, kMutex);
  CHECK(slept == 3 * kDelay);
}

TEST_CASE("waits that needed no credit are saved for one that is too short") {
  World world;
  Thread waits(world, 1);
  // Ten waits of a tenth of d each, while the line is not sampled.
  for (int i = 0; i < 10; ++i) {
    waits.delays.before_blocking();
    world.wakers->record_without_time(kMutex, 0, 2);
    clock_now += kDelay / 10;
    waits.delays.after_blocking(WakeSource::kThread, kMutex);
  }
  // Then the holder of the lock is sampled in it, during a wait as short as the others.
  waits.delays.before_blocking();
  world.wakers->record_without_time(kMutex, kDelay, 2);
  world.global.raise_to(kDelay);
  clock_now += kDelay / 10;
  waits.delays.after_blocking(WakeSource::kThread, kMutex);
  CHECK(sleeps == 0);
  CHECK(waits.local() == kDelay);
}

TEST_CASE(
    "a thread that waits for a condition goes on at the later effective time of two releases") {
  World world;
  Thread waits(world, 1);
  waits.delays.before_blocking();
  world.global.raise_to(9 * kDelay);
  clock_now += 10 * kDelay;
  const Nanoseconds signalled = clock_now;
  SECTION("of the mutex, whose holder had served more than the time since the signal") {
    world.wakers->record(kCondition, {0, 2, signalled});
    world.wakers->record(kMutex, {5 * kDelay, 3, signalled + 2 * kDelay});
    clock_now += 20 * kDelay;
    waits.delays.after_condition(kCondition, kMutex);
    CHECK(slept == 7 * kDelay);
  }
  SECTION("of the mutex, whose holder had served less") {
    world.wakers->record(kCondition, {4 * kDelay, 2, signalled});
    world.wakers->record(kMutex, {5 * kDelay, 3, signalled + 2 * kDelay});
    clock_now += 20 * kDelay;
    waits.delays.after_condition(kCondition, kMutex);
    CHECK(slept == 4 * kDelay);
  }
  SECTION("of the signal, which came last") {
    world.wakers->record(kCondition, {6 * kDelay, 2, signalled});
    world.wakers->record(kMutex, {4 * kDelay, 3, signalled - 3 * kDelay});
    clock_now += kDelay;
    waits.delays.after_condition(kCondition, kMutex);
    CHECK(slept == 3 * kDelay);
  }
}

TEST_CASE("a mutex that no thread waited for did not hold up a signalled thread") {
  World world;
  Thread waits(world, 1);
  Thread holds(world, 3);
  Thread signals(world, 2);
  waits.delays.before_blocking();
  coz::rules::release_mutex(holds.delays, kMutex, no, [] {});
  world.global.raise_to(6 * kDelay);
  clock_now += 10 * kDelay;
  coz::rules::signal_condition(signals.delays, kCondition, [] {});
  const Nanoseconds slept_by_signaller = slept;
  waits.delays.after_condition(kCondition, kMutex);
  CHECK(slept == slept_by_signaller);
  CHECK(waits.local() == 6 * kDelay);
}

TEST_CASE("each of many threads that a signal wakes has served the time until the mutex was free") {
  World world;
  Thread first(world, 1);
  Thread second(world, 2);
  Thread signals(world, 3);
  const auto wait = [&](Thread& thread, auto meanwhile) {
    coz::rules::wait_for_condition(
        thread.delays, {kCondition, kMutex}, yes,
        [&](Nanoseconds) {
          meanwhile();
          return WakeSource::kThread;
        },
        [](WakeSource wake_source) { return wake_source; }, [] { return clock_now; });
  };
  const bool waits_again = GENERATE(true, false);
  second.delays.before_blocking();
  wait(first, [&] {
    clock_now += kDelay;
    coz::rules::signal_condition(signals.delays, kCondition, [] {});
    world.global.raise_to(3 * kDelay);
  });
  CHECK(slept == 3 * kDelay);  // which came after the signal
  if (waits_again) {
    wait(first, [&] { second.delays.after_condition(kCondition, kMutex); });
  } else {
    coz::rules::release_mutex(first.delays, kMutex, yes, [] {});
    second.delays.after_condition(kCondition, kMutex);
  }
  CHECK(second.local() == 3 * kDelay);
  CHECK(slept == 3 * kDelay);
}

TEST_CASE("a signal without a record takes no credit away") {
  World world;
  Thread waits(world, 1);
  const Nanoseconds before = clock_now;
  clock_now += 10 * kDelay;
  waits.delays.before_blocking();
  world.global.raise_to(6 * kDelay);
  clock_now += 10 * kDelay;
  const Nanoseconds due = GENERATE(0, 2);
  const Nanoseconds at = clock_now;
  clock_now += (4 - due) * kDelay;  // passes before the thread looks
  SECTION("no record of the signal") {
    world.wakers->record(kMutex, {2 * kDelay, 3, at});
    waits.delays.after_condition(kEvicted, kMutex);
  }
  SECTION("a signal from before the wait") {
    world.wakers->record(kMutex, {2 * kDelay, 3, at});
    world.wakers->record(kCondition, {0, 2, before});
    waits.delays.after_condition(kCondition, kMutex);
  }
  CHECK(slept == due * kDelay);
}

TEST_CASE("releasing a mutex is recorded if another may wait for it, asked when settled") {
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
  const auto record = world.wakers->find(kMutex);
  REQUIRE(record.has_value() == is_waited_for);
  if (record) CHECK(record->at == clock_now);
}

TEST_CASE("the mutex that a waiter released itself gives way to the condition") {
  World world;
  Thread waits(world, 1);
  waits.delays.before_waking(kMutex);  // cond_wait releases the mutex
  waits.delays.before_blocking();
  clock_now += kDelay;
  world.wakers->record(kCondition, {6 * kDelay, 2, clock_now});
  world.global.raise_to(7 * kDelay);
  clock_now += 10 * kMillisecond;
  waits.delays.after_condition(kCondition, kMutex);
  CHECK(slept == kDelay);
}

TEST_CASE("without a record of the waker, what G had reached is credited") {
  World world;
  Thread waits(world, 1);
  waits.delays.before_blocking();
  world.global.raise_to(7 * kDelay);
  clock_now += 10 * kMillisecond;
  waits.delays.after_blocking(WakeSource::kThread, kMutex);
  CHECK(sleeps == 0);
  CHECK(waits.local() == 7 * kDelay);
}

TEST_CASE(
    "what a process that is not profiled may have released earns no credit without a record") {
  World world;
  Thread waits(world, 1);
  constexpr std::uintptr_t kShared = kMutex | coz::kOfOthersToo;
  const bool is_recorded = GENERATE(true, false);
  const bool is_condition = GENERATE(true, false);
  waits.delays.before_blocking();
  world.global.raise_to(7 * kDelay);
  clock_now += 10 * kMillisecond;
  if (is_recorded) world.wakers->record(kShared, {7 * kDelay, 2, clock_now});
  if (is_condition) {
    waits.delays.after_condition(kShared, kCondition);
  } else {
    waits.delays.after_blocking(WakeSource::kThread, kShared);
  }
  CHECK(waits.local() == 7 * kDelay);
  CHECK(slept == (is_recorded ? 0 : 7 * kDelay));
}

TEST_CASE("only who wakes another while it puts off paying hands on what it owes") {
  World world;
  Thread woken(world, 8);
  world.global.raise_to(50 * kDelay);
  woken.delays.settle();
  slept = 0;
  woken.delays.before_blocking();
  clock_now += kMillisecond;
  const bool owes = GENERATE(true, false);
  world.wakers->record(kMutex, {10 * kDelay, 7, clock_now, owes});
  woken.delays.after_blocking(WakeSource::kThread, kMutex);
  CHECK(slept == (owes ? 40 * kDelay : 0));
}

TEST_CASE("a release from before the wait did not end it: what G had reached is credited") {
  World world;
  Thread waits(world, 1);
  world.wakers->record(kMutex, {2 * kDelay, 2, clock_now});
  clock_now += kDelay;
  waits.delays.before_blocking();
  world.global.raise_to(7 * kDelay);
  clock_now += 10 * kMillisecond;
  waits.delays.after_blocking(WakeSource::kThread, kMutex);
  CHECK(waits.local() == 7 * kDelay);
  CHECK(sleeps == 0);
}

TEST_CASE("samples taken while blocked are charged in addition to the credit") {
  World world;
  Thread waits(world, 1);
  waits.delays.before_blocking();
  waits.delays.sampled(kLine);
  world.wakers->record_without_time(kMutex, 4 * kDelay, 2);
  world.global.raise_to(4 * kDelay);
  clock_now += 10 * kMillisecond;
  waits.delays.after_blocking(WakeSource::kThread, kMutex);
  CHECK(waits.local() == 5 * kDelay);
  CHECK(world.global.get() == 5 * kDelay);
  CHECK(sleeps == 0);
}

TEST_CASE("after a wait that ended externally, by I/O or a time-out, a thread pays everything") {
  World world;
  Thread waits(world, 1);
  waits.delays.before_blocking();
  world.wakers->record_without_time(kMutex, 4 * kDelay, 2);
  world.global.raise_to(7 * kDelay);
  clock_now += 10 * kMillisecond;
  waits.delays.after_blocking(WakeSource::kExternal, kMutex);
  CHECK(slept == 7 * kDelay);
  CHECK(waits.local() == 7 * kDelay);
}

TEST_CASE("a call that did not block earns no credit and costs no pause") {
  World world;
  Thread tries(world, 1);
  tries.delays.before_blocking();
  tries.delays.sampled(kLine);
  world.wakers->record_without_time(kMutex, 4 * kDelay, 2);
  world.global.raise_to(7 * kDelay);
  clock_now += 10 * kMillisecond;
  tries.delays.after_blocking(WakeSource::kNone, kMutex);
  CHECK(sleeps == 0);
  CHECK(tries.local() == kDelay);
  CHECK(tries.state.deferred == 0);
  CHECK_FALSE(tries.state.blocked);
}

TEST_CASE("who waits for a process takes over the delays that it had served at its end") {
  World world;
  Thread waits(world, 1);
  Thread ends(world, 2);
  ends.state.clock.start_at(4 * kDelay);
  world.global.raise_to(4 * kDelay);
  const bool was_killed = GENERATE(false, true);
  const auto wait = [&](int ended) {
    return coz::rules::wait_for_end(
        waits.delays, [=] { return ended; }, [](int result) { return result == 0; },
        [&] {
          if (!was_killed) ends.delays.before_ending(kMutex);
          clock_now += 10 * kMillisecond;
          return 1;
        },
        [](int) { return kMutex; });
  };
  SECTION("it pays first: what was owed before is no matter of the wait") {
    wait(0);
    CHECK(slept == 4 * kDelay);
    CHECK(waits.local() == 4 * kDelay);
  }
  SECTION("of one that ended before nothing is taken over") {
    CHECK(wait(7) == 7);
    CHECK(slept == 4 * kDelay);
  }
}

TEST_CASE(
    "what the others pay while a thread waits for a process is credited, if it ended itself") {
  World world;
  Thread waits(world, 1);
  Thread ends(world, 2);
  const bool was_killed = GENERATE(false, true);
  coz::rules::wait_for_end(
      waits.delays, [] { return 0; }, [](int result) { return result == 0; },
      [&] {
        ends.state.clock.start_at(4 * kDelay);
        world.global.raise_to(4 * kDelay);
        if (!was_killed) ends.delays.before_ending(kMutex);
        clock_now += 10 * kMillisecond;
        return 1;
      },
      [](int) { return kMutex; });
  CHECK(slept == (was_killed ? 4 * kDelay : 0));
  CHECK(waits.local() == 4 * kDelay);
}
