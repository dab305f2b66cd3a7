#include "delay/thread_delays.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <memory>

#include "delay/rules.h"

using coz::kMicrosecond;
using coz::kMillisecond;
using coz::Nanoseconds;
using coz::ThreadDelays;
using coz::WokenBy;

namespace {

// A simulated clock: only sleeping and the tests advance it.
Nanoseconds clock_now;
Nanoseconds slept;
Nanoseconds overshoot;
int sleeps;
void (*during_sleep)();

Nanoseconds simulated_now() noexcept { return clock_now; }

Nanoseconds simulated_sleep_until(Nanoseconds deadline) noexcept {
  ++sleeps;
  if (during_sleep != nullptr) during_sleep();
  const Nanoseconds woken = deadline + overshoot;
  slept += woken - clock_now;
  clock_now = woken;
  return clock_now;
}

constexpr Nanoseconds kDelay = 100 * kMicrosecond;
constexpr Nanoseconds kPeriod = kDelay;
constexpr Nanoseconds kMostSaved = 5 * kMillisecond;
constexpr std::uint32_t kLine = 11;
constexpr std::uintptr_t kMutex = 0x1000;
constexpr std::uintptr_t kCondition = 0x2000;

struct World {
  explicit World(Nanoseconds delay = kDelay, Nanoseconds sampling_period = kPeriod)
      : period(sampling_period) {
    clock_now = 1000 * kMillisecond;
    slept = 0;
    overshoot = 0;
    sleeps = 0;
    during_sleep = nullptr;
    selection.select(kLine, delay);
  }
  const Nanoseconds period;
  coz::GlobalDelay global;
  std::unique_ptr<coz::WakerTable> wakers = std::make_unique<coz::WakerTable>();
  coz::PendingCharges pending;
  coz::SelectionCell selection;
  coz::DelayEnvironment environment{
      global,    *wakers, pending, selection, period, simulated_now, simulated_sleep_until,
      kMostSaved};
};

// A thread in a stretch of code that has lasted for several samples: hits are charged at once.
struct Thread {
  Thread(World& world, std::uint32_t slot) : delays(state, world.environment) {
    state.slot = slot;
    for (int i = 0; i < 10; ++i) state.spreader.sample(false, kPeriod, 0);
  }
  Nanoseconds local() const { return state.clock.local(); }

  coz::ThreadState state;
  ThreadDelays delays;
};

}  // namespace

TEST_CASE("a sample in the line charges its thread and delays the others at their next sample") {
  World world;
  Thread a(world, 1);
  Thread b(world, 2);
  a.delays.sampled(kLine);
  CHECK(a.local() == kDelay);
  CHECK(world.global.get() == kDelay);
  CHECK(slept == 0);
  b.delays.sampled(coz::kNoTarget);
  CHECK(b.local() == kDelay);
  CHECK(slept == kDelay);
}

TEST_CASE("a sample in the line pays what the thread owes beside its charge") {
  World world;
  Thread a(world, 1);
  world.global.raise_to(5 * kDelay);
  a.delays.sampled(kLine);
  CHECK(slept == 4 * kDelay);
  CHECK(a.local() == 5 * kDelay);
  CHECK(world.global.get() == 5 * kDelay);
}

TEST_CASE("while a thread is busy or blocked its samples are deferred, and it does not pause") {
  World world;
  Thread a(world, 1);
  world.global.raise_to(10 * kDelay);
  auto& in_the_way = GENERATE(true, false) ? a.state.busy : a.state.blocked;
  in_the_way = true;
  a.delays.sampled(kLine);
  a.delays.sampled(kLine);
  a.delays.sampled(coz::kNoTarget);
  CHECK(a.state.deferred == 2 * kDelay);
  CHECK(a.local() == 0);
  CHECK(sleeps == 0);
  CHECK(world.global.get() == 10 * kDelay);
  CHECK(in_the_way);
}

TEST_CASE("effective time is real time less delays, those not yet booked included") {
  World world;
  Thread a(world, 1);
  a.state.clock.start_at(300);
  a.state.deferred = 40;
  CHECK(a.delays.effective_now() == clock_now - 340);
}

TEST_CASE("publishing books what was deferred, and does not pause") {
  World world;
  Thread a(world, 1);
  a.state.deferred = 3 * kDelay;
  a.delays.publish();
  CHECK(a.state.deferred == 0);
  CHECK(a.local() == 3 * kDelay);
  CHECK(world.global.get() == 3 * kDelay);
  world.global.raise_to(9 * kDelay);
  a.delays.publish();
  CHECK(sleeps == 0);
}

TEST_CASE("catching up books what was deferred and pays the rest") {
  World world;
  Thread a(world, 1);
  world.global.raise_to(5 * kDelay);
  a.state.deferred = 2 * kDelay;
  a.delays.catch_up();
  CHECK(slept == 3 * kDelay);
  CHECK(a.local() == 5 * kDelay);
}

TEST_CASE("before waking another: drain, pay, and leave on record what was served") {
  World world;
  Thread a(world, 7);
  world.global.raise_to(5 * kDelay);
  a.state.deferred = 2 * kDelay;
  a.delays.before_waking(kMutex);
  CHECK(a.state.deferred == 0);
  CHECK(slept == 3 * kDelay);
  const auto waker = world.wakers->find(kMutex);
  REQUIRE(waker);
  CHECK(waker->local == 5 * kDelay);
  CHECK(waker->thread == 7);
  CHECK_FALSE(a.state.busy);
}

TEST_CASE("a thread pays before it takes a lock") {
  World world;
  Thread a(world, 1);
  world.global.raise_to(5 * kDelay);
  a.state.deferred = 2 * kDelay;
  a.delays.before_taking();
  CHECK(slept == 3 * kDelay);
  CHECK(a.state.deferred == 0);
}

TEST_CASE("a lock taken in a handler that interrupts a call costs no pause") {
  World world;
  Thread a(world, 1);
  world.global.raise_to(5 * kDelay);
  a.state.busy = true;
  a.delays.before_taking();
  CHECK(sleeps == 0);
  CHECK(a.local() == 0);
}

TEST_CASE("taking a lock: what is owed is paid before it is tried for, not while it is held") {
  World world;
  Thread a(world, 1);
  world.global.raise_to(5 * kDelay);
  bool free = true;
  int calls = 0;
  const auto take = [&] {
    coz::rules::acquire(
        a.delays, kMutex, [&] { return free; }, [](bool has_it) { return !has_it; },
        [&] { return ++calls > 0; }, [](bool) { return WokenBy::kThread; });
  };
  take();
  CHECK(slept == 5 * kDelay);
  CHECK(calls == 0);
  free = false;
  take();
  CHECK(calls == 1);
  CHECK(slept == 5 * kDelay);
}

TEST_CASE("before waking, a thread pays until settled even when G grows as it sleeps") {
  static World* grows = nullptr;
  World world;
  grows = &world;
  during_sleep = []() {
    if (sleeps < 4) grows->global.raise_to(grows->global.get() + kDelay);
  };
  world.global.raise_to(kDelay);
  Thread a(world, 1);
  a.delays.before_waking(kMutex);
  CHECK(sleeps == 4);
  CHECK(a.local() == 4 * kDelay);
  REQUIRE(world.wakers->find(kMutex));
  CHECK(world.wakers->find(kMutex)->local == 4 * kDelay);
}

TEST_CASE("oversleeping is made up for at the next pause and does not raise G") {
  World world;
  Thread a(world, 1);
  overshoot = 30 * kMicrosecond;
  world.global.raise_to(kDelay);
  a.delays.catch_up();
  CHECK(a.local() == kDelay);
  CHECK(world.global.get() == kDelay);
  overshoot = 0;
  world.global.raise_to(2 * kDelay);
  a.delays.catch_up();
  CHECK(slept == 2 * kDelay);
  CHECK(a.local() == 2 * kDelay);
}

TEST_CASE("debts too small for a pause are kept, not forgiven") {
  World world;
  Thread a(world, 1);
  for (int i = 1; i <= 5; ++i) {
    world.global.raise_to(i * 6 * kMicrosecond);
    a.delays.sampled(coz::kNoTarget);
    CHECK(sleeps == (i < 4 ? 0 : 1));
  }
  CHECK(slept == 24 * kMicrosecond);
  CHECK(a.local() == 24 * kMicrosecond);
}

TEST_CASE("samples that come during a pause of its own are booked before the thread goes on") {
  static Thread* sleeper = nullptr;
  World world;
  Thread a(world, 1);
  sleeper = &a;
  during_sleep = []() {
    if (sleeps == 1) sleeper->delays.sampled(kLine);
  };
  world.global.raise_to(3 * kDelay);
  a.delays.sampled(coz::kNoTarget);
  CHECK(sleeps == 1);
  CHECK(a.state.deferred == kDelay);
  a.delays.before_blocking();
  CHECK(a.state.blocked_at.local == 4 * kDelay);
  CHECK(world.global.get() == 4 * kDelay);
}

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

TEST_CASE("errno is the program's, with the real clock and real pauses too") {
  World world;
  coz::ThreadState state;
  const coz::DelayEnvironment real{world.global, *world.wakers, world.pending,    world.selection,
                                   kPeriod,      coz::now,      coz::pause_until, kMostSaved};
  ThreadDelays delays(state, real);
  errno = ENOTTY;
  world.global.raise_to(50 * kMicrosecond);
  delays.sampled(kLine);
  world.global.raise_to(100 * kMicrosecond);
  delays.before_waking(kMutex);
  delays.before_blocking();
  world.global.raise_to(150 * kMicrosecond);
  delays.after_blocking(WokenBy::kStranger, {});
  delays.publish();
  delays.catch_up();
  CHECK(errno == ENOTTY);
  // What was overslept may leave a rest that is too short to be slept.
  CHECK(state.clock.local() >= 150 * kMicrosecond - coz::kLeastPause);
  CHECK(state.clock.local() <= 150 * kMicrosecond + kDelay);
}

TEST_CASE("two threads in turn take as long, in effective time, as if the line were faster") {
  const Nanoseconds period = 250 * kMicrosecond;
  const int speedup = GENERATE(0, 25, 50, 100);
  World world(period * speedup / 100, period);
  Thread line(world, 1);
  Thread rest(world, 2);
  const Nanoseconds line_start = line.delays.effective_now();
  rest.delays.before_blocking();
  constexpr int kRounds = 200;
  for (int round = 0; round < kRounds; ++round) {
    // 2 ms in the line, sampled each period ...
    for (int sample = 0; sample < 8; ++sample) {
      clock_now += period;
      line.delays.sampled(kLine);
    }
    line.delays.before_waking(kMutex);
    line.delays.before_blocking();
    rest.delays.after_blocking(WokenBy::kThread, {kMutex});
    // ... and 3 ms elsewhere, in the other thread.
    for (int sample = 0; sample < 12; ++sample) {
      clock_now += period;
      rest.delays.sampled(coz::kNoTarget);
    }
    rest.delays.before_waking(kCondition);
    rest.delays.before_blocking();
    line.delays.after_blocking(WokenBy::kThread, {kCondition});
  }
  const Nanoseconds expected =
      kRounds * (2 * kMillisecond * (100 - speedup) / 100 + 3 * kMillisecond);
  const Nanoseconds took = line.delays.effective_now() - line_start;
  CHECK(took == Approx(static_cast<double>(expected)).margin(kRounds * 8));  // rounded to ns
  CHECK(sleeps == 0);  // all was credited: they never run side by side
}

TEST_CASE("a call in a signal handler that interrupted another is recorded and changes nothing") {
  World world;
  Thread a(world, 7);
  REQUIRE(a.delays.before_blocking());
  world.global.raise_to(5 * kDelay);
  SECTION("waking") {
    // As deep below the call as a handler would be.
    const auto in_handler = [&a]() {
      volatile char signal_frame[4096];
      signal_frame[0] = 0;
      a.delays.before_waking(kMutex);
      return signal_frame[0];
    };
    a.state.blocked_frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) + 65536;
    in_handler();
    CHECK(sleeps == 0);
    CHECK(a.state.blocked);
    REQUIRE(world.wakers->find(kMutex));
    CHECK(world.wakers->find(kMutex)->local == 0);
  }
  SECTION("waiting") {
    a.state.blocked_frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) + 65536;
    CHECK_FALSE(a.delays.before_blocking());
    CHECK(a.state.blocked);
  }
}

TEST_CASE("a call that a handler left for good no longer counts as waiting") {
  World world;
  Thread a(world, 7);
  REQUIRE(a.delays.before_blocking());
  world.global.raise_to(5 * kDelay);
  // The next call comes from the same depth.
  a.delays.before_waking(kMutex);
  CHECK_FALSE(a.state.blocked);
  CHECK(slept == 5 * kDelay);
}

namespace {

// A thread that takes turns with others: at each call another stretch begins.
struct BusyThread {
  BusyThread(World& world, std::uint32_t slot) : delays(state, world.environment) {
    state.slot = slot;
  }
  // It runs for a while and calls from `site`, which wakes whoever waits for kMutex.
  void run(Nanoseconds time, std::uintptr_t site) {
    clock_now += time;
    delays.called_from(site);
    delays.before_waking(kMutex);
  }
  Nanoseconds local() const { return state.clock.local(); }

  coz::ThreadState state;
  ThreadDelays delays;
};

constexpr std::uintptr_t kInside = 0x401000;   // a stretch with the line begins after this call
constexpr std::uintptr_t kOutside = 0x402000;  // and one without after this

}  // namespace

TEST_CASE("short stretches: what a sample stands for is charged over many of them, and no other") {
  constexpr Nanoseconds kLong = 1 * kMillisecond;
  World world(kLong / 2, kLong);
  BusyThread a(world, 1);
  Nanoseconds largest = 0;
  Nanoseconds outside = 0;
  for (int i = 0; i < 2000; ++i) {
    a.run(100 * kMicrosecond, kInside);
    if (i % 5 == 0) a.delays.sampled(kLine);  // a fifth of them: 0.2 ms of each millisecond
    const Nanoseconds before = a.local();
    a.run(200 * kMicrosecond, kOutside);
    largest = std::max(largest, a.local() - before);
    const Nanoseconds then = a.local();
    a.run(0, kOutside);
    outside += a.local() - then;
  }
  // 400 samples, each of half a period.
  CHECK(a.local() == Approx(400 * kLong / 2).epsilon(0.02));
  CHECK(largest < kLong / 6);  // 0.1 ms on average
  CHECK(outside == 0);
  CHECK(world.global.get() == a.local());
}

TEST_CASE("buckets fill in baselines too, so that a speedup starts with what it needs") {
  constexpr Nanoseconds kLong = 1 * kMillisecond;
  World world(0, kLong);
  BusyThread a(world, 1);
  const auto run = [&](int rounds) {
    for (int i = 0; i < rounds; ++i) {
      if (i % 10 == 0) a.delays.sampled(kLine);
      a.run(100 * kMicrosecond, kInside);
    }
  };
  run(500);
  CHECK(a.local() == 0);
  world.selection.select(kLine, kLong);
  run(100);
  CHECK(a.local() == Approx(10 * kLong).epsilon(0.05));
  // Another line: what is left of this one is not charged.
  world.selection.select(kLine + 1, kLong);
  const Nanoseconds before = a.local();
  run(1);
  CHECK(a.local() == before);
  CHECK(a.state.spreader.is_idle());
}

TEST_CASE("others pay for a stretch while it runs, and its end brings no more") {
  constexpr Nanoseconds kLong = 1 * kMillisecond;
  World world(kLong / 2, kLong);
  BusyThread a(world, 1);
  BusyThread b(world, 2);
  for (int i = 0; i < 300; ++i) {
    if (i % 5 == 0) a.delays.sampled(kLine);
    a.run(200 * kMicrosecond, kInside);
    b.state.clock.start_at(a.local());
  }
  const Nanoseconds before = a.local();
  clock_now += 100 * kMicrosecond;
  b.delays.before_taking();  // a is in the middle
  const Nanoseconds accrued = b.local() - before;
  CHECK(accrued > 40 * kMicrosecond);
  CHECK(accrued < 150 * kMicrosecond);
  CHECK(a.local() == before);
  CHECK(world.global.get() == b.local());
  a.run(0, kInside);  // it was charged all that b has paid, and for the time in which b did so
  CHECK(a.local() >= b.local());
}

TEST_CASE("effective time of a thread in the line does not wait for the end of the stretch") {
  constexpr Nanoseconds kLong = 1 * kMillisecond;
  World world(kLong, kLong);
  BusyThread a(world, 1);
  for (int i = 0; i < 300; ++i) {
    if (i % 5 == 0) a.delays.sampled(kLine);
    a.run(200 * kMicrosecond, kInside);
  }
  const Nanoseconds before = a.delays.effective_now();
  clock_now += 150 * kMicrosecond;
  CHECK(a.delays.effective_now() - before < 60 * kMicrosecond);
}

TEST_CASE("a thread that ends is charged all that its samples stand for") {
  constexpr Nanoseconds kLong = 1 * kMillisecond;
  World world(kLong / 2, kLong);
  BusyThread a(world, 7);
  a.run(0, kInside);
  a.delays.sampled(kLine);
  a.run(100 * kMicrosecond, kOutside);
  a.delays.sampled(kLine);
  a.delays.before_ending(kMutex);
  CHECK(a.local() == Approx(2.0 * kLong / 2).margin(2));
  CHECK(a.state.spreader.is_idle());
  REQUIRE(world.wakers->find(kMutex));
  CHECK(world.wakers->find(kMutex)->local == a.local());
}

TEST_CASE("an arrival charges its thread without a pause, and the others pay") {
  World world;
  Thread a(world, 1);
  Thread b(world, 2);
  const auto amplification = std::make_unique<coz::Amplification>();
  amplification->set_delay(kMillisecond);
  a.state.arrivals.start_at(0);
  a.delays.arrived(*amplification);
  CHECK(sleeps == 0);
  CHECK(a.local() == kMillisecond);
  CHECK(world.global.get() == kMillisecond);
  b.delays.catch_up();
  CHECK(b.local() == kMillisecond);
  CHECK(slept == kMillisecond);
}

TEST_CASE("threads that arrivals come to alike do not pay for each other") {
  World world;
  Thread a(world, 1);
  Thread b(world, 2);
  const auto amplification = std::make_unique<coz::Amplification>();
  amplification->set_delay(kMillisecond);
  for (int i = 0; i < 5; ++i) {
    clock_now += 10 * kMillisecond;
    a.delays.arrived(*amplification);
    b.delays.arrived(*amplification);
  }
  CHECK(world.global.get() == 5 * kMillisecond);
  a.delays.catch_up();
  b.delays.catch_up();
  CHECK(sleeps == 0);
}

TEST_CASE("an arrival at a delay of 0 is counted, and changes nothing") {
  World world;
  Thread a(world, 1);
  const auto amplification = std::make_unique<coz::Amplification>();
  a.delays.arrived(*amplification);
  clock_now += 10 * kMillisecond;
  a.delays.arrived(*amplification);
  CHECK(a.local() == 0);
  CHECK(world.global.get() == 0);
  CHECK(amplification->counts().arrivals == 2);
  CHECK(amplification->counts().between == 10 * kMillisecond);
}

TEST_CASE("an arrival in the midst of a wrapper is charged when that is done") {
  World world;
  Thread a(world, 1);
  const auto amplification = std::make_unique<coz::Amplification>();
  amplification->set_delay(kMillisecond);
  a.state.busy = true;
  a.delays.arrived(*amplification);
  CHECK(a.local() == 0);
  a.state.busy = false;
  a.delays.publish();
  CHECK(a.local() == kMillisecond);
  CHECK(amplification->counts().charged == kMillisecond);
}
