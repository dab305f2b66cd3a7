#include <catch2/catch.hpp>
#include <cerrno>

#include "tests/libcoz/delay/delays_world.h"

using namespace delays_world;

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

TEST_CASE("a thread counts its samples in the main target") {
  World world;
  Thread a(world, 1);
  a.delays.sampled(kLine);
  a.delays.sampled(coz::kNoTarget);
  a.state.blocked = GENERATE(true, false);
  a.delays.sampled(kLine);
  CHECK(a.state.target_samples == 2);
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

TEST_CASE("effective time is real time less delays, including those not yet applied") {
  World world;
  Thread a(world, 1);
  a.state.clock.start_at(300);
  a.state.deferred = 40;
  CHECK(a.delays.effective_now() == clock_now - 340);
}

TEST_CASE("a thread pays before it creates another, which begins with what it has served") {
  World world;
  Thread a(world, 1);
  a.state.deferred = 3 * kDelay;
  world.global.raise_to(9 * kDelay);
  Nanoseconds inherited = -1;
  const auto create = [&](Nanoseconds served) { return inherited = served, 7; };
  CHECK(coz::rules::create(a.delays, create) == 7);
  CHECK(slept == 6 * kDelay);
  CHECK(inherited == 9 * kDelay);
  CHECK(a.local() == 9 * kDelay);
}

TEST_CASE("what is left to charge when a thread creates another is not charged for what follows") {
  World world;
  coz::DelayState state;
  ThreadDelays delays(state, world.environment, 0x401000);
  delays.sampled(kLine);
  clock_now += kPeriod;
  coz::rules::create(delays, [](Nanoseconds) { return 0; });
  const Nanoseconds charged = state.clock.local();
  CHECK(charged > 0);
  CHECK(charged < kDelay);
  clock_now += kPeriod;
  delays.settle();
  CHECK(state.clock.local() == charged);
}

TEST_CASE("threads of one kind that follow each other are charged for a sample in one of them") {
  World world;
  constexpr std::uintptr_t kKind = 0x402000;
  const auto live = [&](bool is_sampled, std::uintptr_t kind) {
    coz::DelayState state;
    ThreadDelays delays(state, world.environment);
    delays.begin(world.global.get(), kind);
    const Nanoseconds before = state.clock.local();
    if (is_sampled) delays.sampled(kLine);
    clock_now += kPeriod / 2;
    delays.before_ending(0x5000);
    return state.clock.local() - before;
  };
  CHECK(live(false, kKind) == 0);
  const Nanoseconds sampled = live(true, kKind);
  CHECK(sampled > 0);
  CHECK(sampled < kDelay);
  CHECK(live(false, kKind + 0x40) == 0);
  CHECK(live(false, kKind) > 0);
}

TEST_CASE("catch_up() applies deferred charges and pays the rest") {
  World world;
  Thread a(world, 1);
  world.global.raise_to(5 * kDelay);
  a.state.deferred = 2 * kDelay;
  a.delays.catch_up();
  CHECK(slept == 3 * kDelay);
  CHECK(a.local() == 5 * kDelay);
}

TEST_CASE("before waking another: apply charges, pay, and record what was served") {
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
  a.delays.settle();
  CHECK(slept == 3 * kDelay);
  CHECK(a.state.deferred == 0);
}

TEST_CASE("a lock taken in a handler that interrupts a call costs no pause") {
  World world;
  Thread a(world, 1);
  world.global.raise_to(5 * kDelay);
  a.state.busy = true;
  a.delays.settle();
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
        [&] { return ++calls > 0; }, [](bool) { return WakeSource::kThread; });
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

TEST_CASE("excess shortens the next pause and does not raise G") {
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

TEST_CASE("what is too little for a pause stays owed") {
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

TEST_CASE("before a call, too, what is too little for a pause waits, or uses what was overslept") {
  World world;
  Thread a(world, 1);
  world.global.raise_to(6 * kMicrosecond);
  a.delays.settle();
  CHECK(sleeps == 0);
  CHECK(a.local() == 0);
  overshoot = 10 * kMicrosecond;
  world.global.raise_to(kDelay);
  a.delays.settle();
  CHECK(sleeps == 1);
  CHECK(a.local() == kDelay);
  world.global.raise_to(kDelay + 8 * kMicrosecond);
  a.delays.settle();
  CHECK(a.local() == kDelay + 8 * kMicrosecond);
  world.global.raise_to(kDelay + 16 * kMicrosecond);
  a.delays.settle();
  CHECK(a.local() == kDelay + 10 * kMicrosecond);
  CHECK(sleeps == 1);
}

TEST_CASE("samples during a thread's own pause are charged before it goes on") {
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

TEST_CASE("errno is the program's, with the real clock and real pauses too") {
  World world;
  coz::DelayState state;
  const coz::DelayEnvironment real{world.global, *world.wakers,    world.pending,
                                   world.young,  world.selection,  kPeriod,
                                   coz::now,     coz::pause_until, kMaxSaved};
  ThreadDelays delays(state, real);
  errno = ENOTTY;
  world.global.raise_to(50 * kMicrosecond);
  delays.sampled(kLine);
  world.global.raise_to(100 * kMicrosecond);
  delays.before_waking(kMutex);
  delays.before_blocking();
  world.global.raise_to(150 * kMicrosecond);
  delays.after_blocking(WakeSource::kExternal, coz::kNoObject);
  delays.catch_up();
  CHECK(errno == ENOTTY);
  // What was overslept may leave a rest that is too short to be slept.
  CHECK(state.clock.local() >= 150 * kMicrosecond - coz::kMinPause);
  CHECK(state.clock.local() <= 150 * kMicrosecond + kDelay);
}

TEST_CASE(
    "two threads that alternate take as long, in effective time, as if the line were faster") {
  const Nanoseconds period = 250 * kMicrosecond;
  const int speedup = GENERATE(0, 25, 50, 100);
  World world(period * speedup / 100, period);
  Thread line(world, 1);
  Thread rest(world, 2);
  const Nanoseconds line_start = line.delays.effective_now();
  rest.delays.before_blocking();
  constexpr int kRounds = 200;
  for (int round = 0; round < kRounds; ++round) {
    // 4 ms in the line, sampled each period: charged at once ...
    for (int sample = 0; sample < 16; ++sample) {
      clock_now += period;
      line.delays.sampled(kLine);
    }
    line.delays.before_waking(kMutex);
    line.delays.before_blocking();
    rest.delays.after_blocking(WakeSource::kThread, kMutex);
    // ... and 3 ms elsewhere, in the other thread.
    for (int sample = 0; sample < 12; ++sample) {
      clock_now += period;
      rest.delays.sampled(coz::kNoTarget);
    }
    rest.delays.before_waking(kCondition);
    rest.delays.before_blocking();
    line.delays.after_blocking(WakeSource::kThread, kCondition);
  }
  const Nanoseconds expected =
      kRounds * (4 * kMillisecond * (100 - speedup) / 100 + 3 * kMillisecond);
  const Nanoseconds took = line.delays.effective_now() - line_start;
  CHECK(took == Approx(static_cast<double>(expected)).margin(kRounds * 8));  // rounded to ns
  CHECK(sleeps == 0);  // all was credited: they never run side by side
}
