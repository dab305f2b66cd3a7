// Waits that time out, and go on for as long as the thread owes.
#include <catch2/catch.hpp>
#include <vector>

#include "tests/libcoz/delay/delays_world.h"

using namespace delays_world;

namespace {

// Its entry in the table is another's: nothing is known of it.
constexpr std::uintptr_t kEvicted = 0x3000;

// Waits for a file, until G is `global` at the time-out; then `again(left)` happens, by the end of
// which the other thread has written to it, having served G.
template <typename Again>
void wait_for_file(World& world, Thread& waits, Nanoseconds timeout, Nanoseconds global,
                   Again again) {
  coz::rules::wait_for_outside_until(
      waits.delays,
      [&] {
        clock_now += timeout;
        world.global.raise_to(global);
        return 0;
      },
      [](int ready) { return ready == 0; }, timeout,
      [&](Nanoseconds left) {
        again(left);
        world.wakers->record(kMutex, {global, 2, clock_now});
        return 1;
      },
      [](int ready) { return ready > 0 ? kMutex : coz::kNoObject; });
}

}  // namespace

TEST_CASE("after a wait that timed out, only the wait for the mutex earns credit") {
  World world;
  Thread waits(world, 1);
  Thread holds(world, 2);
  waits.delays.before_blocking();
  world.global.raise_to(6 * kDelay);
  clock_now += 10 * kDelay;
  const Nanoseconds timed_out = clock_now;
  const bool is_waited_for = GENERATE(true, false);
  const bool is_known = GENERATE(true, false);
  holds.delays.settle();
  clock_now = timed_out + 4 * kDelay;
  coz::rules::release_mutex(holds.delays, kMutex, [=] { return is_waited_for; }, [] {});
  const auto longer = waits.delays.prolong_wait(timed_out, 0, is_known ? kMutex : kEvicted);
  CHECK(longer.by == (is_waited_for && is_known ? 2 : 6) * kDelay);
  CHECK(longer.until == clock_now + longer.by);
}

TEST_CASE("once profiling has ended, no wait that goes on pays, and none is prolonged") {
  World world;
  static bool is_over;
  is_over = false;
  world.environment.has_ended = []() noexcept { return is_over; };
  Thread waits(world, 1);
  waits.delays.before_blocking(coz::WaitsFor::kOutside);
  world.global.raise_to(50 * kDelay);
  is_over = true;
  SECTION("to its end") { waits.delays.after_blocking(WakeSource::kExternal, coz::kNoObject); }
  SECTION("to its time-out") {
    CHECK(waits.delays.prolong_wait(clock_now, 0, coz::kNoObject).by == 0);
    waits.delays.after_blocking(WakeSource::kExternal, coz::kNoObject);
  }
  CHECK(sleeps == 0);
  waits.delays.settle();
  CHECK(sleeps == 0);
}

TEST_CASE("a wait that times out is prolonged to pay in it, not with the mutex held") {
  World world;
  Thread waits(world, 1);
  world.global.raise_to(kDelay);
  waits.delays.settle();
  slept = 0;
  const Nanoseconds deadline = clock_now + 10 * kDelay;
  const bool is_signalled = GENERATE(true, false);
  std::vector<Nanoseconds> asked;
  const WakeSource wake_source = coz::rules::wait_for_condition(
      waits.delays, {kCondition, kMutex}, [] { return true; },
      [&](Nanoseconds later) {
        asked.push_back(later);
        // Each call releases the mutex, to another that may wait for it.
        CHECK(world.wakers->find(kMutex)->local == waits.local());
        if (asked.size() == 2 && is_signalled) {
          clock_now += kDelay;
          world.wakers->record(kCondition, {3 * kDelay, 2, clock_now});
          return WakeSource::kThread;
        }
        clock_now = deadline + later;
        if (asked.size() == 1) world.global.raise_to(4 * kDelay);
        if (asked.size() == 2) world.global.raise_to(5 * kDelay);
        return WakeSource::kExternal;
      },
      [](WakeSource result) { return result; }, [&] { return deadline; });
  if (is_signalled) {
    CHECK(wake_source == WakeSource::kThread);
    CHECK(asked == std::vector<Nanoseconds>{0, 3 * kDelay});
    // It has waited through the two delays that it takes over from who signalled.
    CHECK(slept == kDelay);
    CHECK(waits.local() == 4 * kDelay);
  } else {
    CHECK(wake_source == WakeSource::kExternal);
    CHECK(asked == std::vector<Nanoseconds>{0, 3 * kDelay, 4 * kDelay});
    CHECK(slept == 0);
    CHECK(waits.local() == 5 * kDelay);
  }
  CHECK_FALSE(waits.state.blocked);
}

TEST_CASE("if a prolonged wait does not last, the rest is paid by a pause") {
  World world;
  Thread waits(world, 1);
  world.global.raise_to(4 * kDelay);
  waits.delays.settle();
  slept = 0;
  int calls = 0;
  coz::rules::wait_for_condition(
      waits.delays, {kCondition, kMutex}, [] { return false; },
      [&](Nanoseconds) {
        world.global.raise_to(7 * kDelay);
        if (++calls == 2) clock_now += kDelay;
        return WakeSource::kExternal;
      },
      [](WakeSource result) { return result; }, [] { return Nanoseconds{0}; });
  CHECK(calls == 2);
  CHECK(slept == 2 * kDelay);
  CHECK(waits.local() == 7 * kDelay);
}

TEST_CASE("other waits that time out are prolonged, too, and see what comes meanwhile") {
  World world;
  Thread waits(world, 1);
  const Nanoseconds deadline = clock_now + 10 * kDelay;
  const bool comes = GENERATE(true, false);
  std::vector<Nanoseconds> asked;
  const bool in_time = coz::rules::wait_until(
      waits.delays, kMutex,
      [&](Nanoseconds later) {
        asked.push_back(later);
        clock_now = deadline + later;
        world.global.raise_to(3 * kDelay);
        if (!comes || asked.size() == 1) return false;
        clock_now -= kDelay;
        world.wakers->record(kMutex, {3 * kDelay, 2, clock_now});
        return true;
      },
      [](bool got) { return got ? WakeSource::kThread : WakeSource::kExternal; },
      [](bool got) { return !got; }, [&] { return deadline; }, coz::WaitsFor::kQueue);
  CHECK(in_time == comes);
  CHECK(asked == std::vector<Nanoseconds>{0, 3 * kDelay});
  CHECK(waits.local() == 3 * kDelay);
  CHECK(slept == 0);
  CHECK_FALSE(waits.state.blocked);
}

TEST_CASE("what a prolonged wait overslept serves later debts") {
  World world;
  Thread waits(world, 1);
  const Nanoseconds deadline = clock_now + 10 * kDelay;
  std::vector<Nanoseconds> asked;
  const auto wait = [&](Nanoseconds later) {
    asked.push_back(later);
    clock_now = deadline + later + kDelay;
    if (asked.size() == 1) world.global.raise_to(3 * kDelay);
    return false;
  };
  coz::rules::wait_until(
      waits.delays, kMutex, wait, [](bool) { return WakeSource::kExternal; },
      [](bool got) { return !got; }, [&] { return deadline; }, coz::WaitsFor::kQueue);
  // The wait itself overslept, as it would without delays.
  CHECK(asked == std::vector<Nanoseconds>{0, 4 * kDelay});
  CHECK(waits.local() == 3 * kDelay);
  world.global.raise_to(4 * kDelay);
  waits.delays.settle();
  CHECK(slept == 0);
  CHECK(waits.local() == 4 * kDelay);
}

TEST_CASE("a deadline comes later by what is paid before the wait") {
  World world;
  Thread waits(world, 1);
  const Nanoseconds deadline = clock_now + 10 * kDelay;
  world.global.raise_to(4 * kDelay);
  std::vector<Nanoseconds> asked;
  const auto wait = [&](Nanoseconds later) {
    asked.push_back(later);
    clock_now = deadline + later;
    if (asked.size() == 1) world.global.raise_to(6 * kDelay);
    return WakeSource::kExternal;
  };
  SECTION("for a condition") {
    coz::rules::wait_for_condition(
        waits.delays, {kCondition, kMutex}, [] { return false; }, wait,
        [](WakeSource result) { return result; }, [&] { return deadline; });
  }
  SECTION("for a semaphore") {
    coz::rules::acquire_until(
        waits.delays, kMutex, [] { return WakeSource::kExternal; },
        [](WakeSource result) { return result == WakeSource::kExternal; }, wait,
        [](WakeSource result) { return result; },
        [](WakeSource result) { return result == WakeSource::kExternal; }, [&] { return deadline; },
        coz::WaitsFor::kQueue);
  }
  CHECK(asked == std::vector<Nanoseconds>{4 * kDelay, 6 * kDelay});
  CHECK(slept == 4 * kDelay);
  CHECK(waits.local() == 6 * kDelay);
}

TEST_CASE("a thread that ends a prolonged wait has been waited for from the beginning") {
  World world;
  Thread waits(world, 1);
  wait_for_file(world, waits, 5 * kDelay, 4 * kDelay, [](Nanoseconds left) {
    CHECK(left == 4 * kDelay);
    clock_now += kDelay;
  });
  CHECK(slept == 0);
  CHECK(waits.local() == 4 * kDelay);
}

TEST_CASE("what a thread overslept before does not shorten the wait that is prolonged") {
  World world;
  Thread waits(world, 1);
  waits.state.clock.paused(0, 5 * kDelay);  // so much was overslept
  const Nanoseconds begin = clock_now;
  wait_for_file(world, waits, kDelay, 6 * kDelay, [&](Nanoseconds left) {
    CHECK(left == kDelay);
    CHECK(waits.state.blocked_at.since == begin);
    clock_now += left / 2;
  });
  CHECK(slept == 0);
  CHECK(waits.local() == 6 * kDelay);
}

TEST_CASE("a mutex that was released just after a time-out has not been waited for") {
  World world;
  Thread waits(world, 1);
  const Nanoseconds deadline = clock_now + 10 * kDelay;
  int calls = 0;
  coz::rules::wait_for_condition(
      waits.delays, {kCondition, kMutex}, [] { return false; },
      [&](Nanoseconds later) {
        clock_now = deadline + later;
        world.global.raise_to(3 * kDelay);
        if (++calls == 2) {
          world.wakers->record(kMutex, {0, 2, clock_now + 30 * kMicrosecond});
          clock_now += 60 * kMicrosecond;  // the clock woke it late
        }
        return WakeSource::kExternal;
      },
      [](WakeSource result) { return result; }, [&] { return deadline; });
  CHECK(calls == 2);
  CHECK(waits.local() == 3 * kDelay);
  CHECK(waits.state.clock.excess() == 60 * kMicrosecond);
}
