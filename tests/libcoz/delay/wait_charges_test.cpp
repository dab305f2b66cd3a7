// Waits as targets: what a thread that waits in the selected target is charged, and when the others
// learn of it.
#include "delay/wait_charges.h"

#include <catch2/catch.hpp>
#include <map>

#include "delays_world.h"

namespace {

using namespace delays_world;
using coz::Selection;
using coz::WaitCharges;

constexpr std::uint32_t kWait = 7;
constexpr Nanoseconds kHalf = kPeriod / 2;  // a speedup of 50 %

Nanoseconds ran;
Nanoseconds simulated_processor_time() noexcept { return ran; }

struct WaitWorld : World {
  WaitWorld() : World(kHalf) {
    ran = 0;
    follows.processor_time = simulated_processor_time;
    follows.waits = &waits;
    follows.lock_holds = &holds;
    selection.select(kWait, kHalf);
  }
  // What the experimenter does when the selection changes.
  std::map<std::uint32_t, Nanoseconds> claim() {
    std::map<std::uint32_t, Nanoseconds> claimed;
    waits.claim(selection.get(), clock_now, kPeriod,
                [&](std::uint32_t target, Nanoseconds waited) { claimed[target] += waited; });
    return claimed;
  }

  WaitCharges waits;
  coz::LockHolds holds;
  coz::DelayEnvironment follows = environment;
};

struct WaitingThread {
  WaitingThread(WaitWorld& world, std::uint32_t slot) : delays(state, world.follows) {
    state.slot = slot;
    for (int i = 0; i < 10; ++i) state.smoother.sample(std::nullopt, kPeriod, 0);
  }
  // Waits in `target`, while `meanwhile` happens. Returns for how long, as counted.
  template <typename Meanwhile>
  Nanoseconds wait(std::uint32_t target, Meanwhile meanwhile,
                   Nanoseconds deadline = WaitCharges::kNoDeadline) {
    Nanoseconds waited = 0;
    coz::rules::wait_for_outside(delays, [&] {
      const auto followed = delays.enter_wait(target, nullptr, deadline);
      meanwhile();
      waited = delays.leave_wait(followed);
      return 0;
    });
    return waited;
  }
  Nanoseconds local() const { return state.clock.local(); }

  coz::DelayState state;
  ThreadDelays delays;
};

// A handler has a signal frame below that of the call which it interrupts.
[[gnu::noinline]] Nanoseconds wait_in_handler(WaitingThread& thread) {
  volatile char signal_frame[4096];
  signal_frame[0] = 0;
  const Nanoseconds waited = thread.wait(kWait, [] { clock_now += kMillisecond; });
  signal_frame[1] = signal_frame[0];
  return waited;
}

}  // namespace

TEST_CASE("waking late from a wait with a deadline is not charged") {
  WaitWorld world;
  WaitingThread sleeper(world, 0), other(world, 1);
  const Nanoseconds deadline = clock_now + 10 * kMillisecond;
  const auto wake_late = [&] {
    clock_now += 12 * kMillisecond;
    other.delays.catch_up();
    CHECK(other.local() == 5 * kMillisecond);
  };
  CHECK(sleeper.wait(kWait, wake_late, deadline) == 10 * kMillisecond);
  CHECK(sleeper.local() == 5 * kMillisecond);
}

TEST_CASE("a wait in the selected target is not prolonged by its own charge") {
  WaitWorld world;
  WaitingThread waits(world, 0), other(world, 1);
  bool goes_on = false;
  coz::rules::wait_for_outside_until(
      waits.delays,
      [&] {
        const auto entered = waits.delays.enter_wait(kWait, nullptr, clock_now + 10 * kMillisecond);
        clock_now += 10 * kMillisecond;
        other.delays.catch_up();
        waits.delays.leave_wait(entered);
        return 0;
      },
      [](int ready) { return ready == 0; }, 10 * kMillisecond,
      [&](Nanoseconds) { return goes_on = true, 0; }, [](int) { return coz::kNoObject; });
  CHECK(other.local() == 5 * kMillisecond);
  CHECK(waits.local() == 5 * kMillisecond);
  CHECK_FALSE(goes_on);
}

TEST_CASE("what is claimed of a wait ends with its deadline") {
  WaitWorld world;
  WaitingThread sleeper(world, 0);
  const Nanoseconds deadline = clock_now + 10 * kMillisecond;
  const auto claim_twice = [&] {
    clock_now += 8 * kMillisecond;
    CHECK(world.claim()[kWait] == 8 * kMillisecond);
    clock_now += 8 * kMillisecond;
    CHECK(world.claim()[kWait] == 2 * kMillisecond);
  };
  CHECK(sleeper.wait(kWait, claim_twice, deadline) == 0);
  CHECK(sleeper.local() == 5 * kMillisecond);
}

TEST_CASE("a wait in the selected target is charged its speedup of the time waited") {
  WaitWorld world;
  WaitingThread thread(world, 0);
  CHECK(thread.wait(kWait, [] { clock_now += 10 * kMillisecond; }) == 10 * kMillisecond);
  CHECK(thread.local() == 5 * kMillisecond);
  CHECK(world.global.get() == 5 * kMillisecond);
  CHECK(slept == 0);
  CHECK(thread.state.target_samples.load() == 10 * kMillisecond / kPeriod);
}

TEST_CASE("another wait is not charged, but counted") {
  WaitWorld world;
  WaitingThread thread(world, 0);
  CHECK(thread.wait(kWait + 1, [] { clock_now += kMillisecond; }) == kMillisecond);
  CHECK(thread.local() == 0);
  CHECK(world.global.get() == 0);
}

TEST_CASE("a wait without a target is neither charged nor counted") {
  WaitWorld world;
  WaitingThread thread(world, 0);
  CHECK(thread.wait(coz::kNoTarget, [] { clock_now += kMillisecond; }) == 0);
  CHECK(world.waits.is_empty());
  CHECK(thread.local() == 0);
}

TEST_CASE("others pay for a wait while it lasts") {
  WaitWorld world;
  WaitingThread waits(world, 0);
  WaitingThread runs(world, 1);
  waits.wait(kWait, [&] {
    clock_now += 4 * kMillisecond;
    runs.delays.sampled(11);
    // A pause takes time as well, in which more accrues: 2 + 1 + 1/2 … ms.
    CHECK(slept > 3900 * kMicrosecond);
    CHECK(runs.local() == slept);
  });
  CHECK(waits.local() >= runs.local());
}

TEST_CASE("two that wait at once do not pause for each other") {
  WaitWorld world;
  WaitingThread one(world, 0);
  WaitingThread other(world, 1);
  one.wait(kWait, [&] { other.wait(kWait, [] { clock_now += 10 * kMillisecond; }); });
  CHECK(one.local() == 5 * kMillisecond);
  CHECK(other.local() == 5 * kMillisecond);
  CHECK(slept == 0);
}

TEST_CASE("a wait is charged for the part in which it was selected") {
  WaitWorld world;
  world.selection.clear();
  WaitingThread thread(world, 0);
  const Nanoseconds waited = thread.wait(kWait, [&] {
    clock_now += 7 * kMillisecond;
    CHECK(world.claim()[kWait] == 7 * kMillisecond);
    world.selection.select(kWait, kHalf);
    clock_now += 2 * kMillisecond;
    CHECK(world.claim()[kWait] == 2 * kMillisecond);
    world.selection.clear();
    clock_now += 5 * kMillisecond;
  });
  CHECK(waited == 5 * kMillisecond);
  CHECK(thread.local() == kMillisecond);
}

TEST_CASE("processor time in a call is not waiting") {
  WaitWorld world;
  WaitingThread thread(world, 0);
  const Nanoseconds waited = thread.wait(kWait, [] {
    clock_now += 3 * kMillisecond;
    ran += kMillisecond;
  });
  CHECK(waited == 2 * kMillisecond);
  CHECK(thread.local() == kMillisecond);
}

TEST_CASE("a call that a handler makes during a wait is no wait of its own") {
  WaitWorld world;
  WaitingThread thread(world, 0);
  const Nanoseconds waited = thread.wait(kWait, [&] {
    clock_now += kMillisecond;
    CHECK(wait_in_handler(thread) == 0);
  });
  CHECK(waited == 2 * kMillisecond);
  CHECK(thread.local() == kMillisecond);
}

TEST_CASE("a thread that ends in a wait accrues no more") {
  WaitWorld world;
  WaitingThread thread(world, 0);
  thread.delays.before_blocking();
  thread.delays.enter_wait(kWait);
  thread.state.blocked.store(false);
  thread.delays.before_ending(0x77);
  clock_now += kMillisecond;
  CHECK(world.waits.is_empty());
  CHECK(world.waits.max_local(world.selection.get(), kPeriod, simulated_now) == 0);
}

TEST_CASE("threads whose places are taken wait uncharged") {
  WaitWorld world;
  WaitingThread one(world, 3);
  WaitingThread other(world, 3 + 64);
  one.wait(kWait, [&] {
    CHECK(other.wait(kWait, [] { clock_now += 2 * kMillisecond; }) == 0);
    CHECK_FALSE(world.waits.is_empty());
  });
  CHECK(other.local() == slept);  // like any thread that has not waited
  CHECK(one.local() >= other.local());
}
