// Samples that are charged bit by bit over code segments.
#include <catch2/catch.hpp>

#include "tests/libcoz/delay/delays_world.h"

using namespace delays_world;

namespace {

// A thread that takes turns with others: at each call another code segment begins.
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

  coz::DelayState state;
  ThreadDelays delays;
};

constexpr std::uintptr_t kInside = 0x401000;  // a code segment with the line begins after this call
constexpr std::uintptr_t kOutside = 0x402000;  // and one without after this

}  // namespace

TEST_CASE(
    "short code segments: what a sample stands for is charged over many of them, and no other") {
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
  CHECK(a.state.smoother.is_idle());
}

TEST_CASE("others pay for a code segment while it runs, and its end brings no more") {
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
  b.delays.settle();  // a is in the middle
  const Nanoseconds accrued = b.local() - before;
  CHECK(accrued > 40 * kMicrosecond);
  CHECK(accrued < 150 * kMicrosecond);
  CHECK(a.local() == before);
  CHECK(world.global.get() == b.local());
  a.run(0, kInside);  // it was charged all that b has paid, and for the time in which b did so
  CHECK(a.local() >= b.local());
}

TEST_CASE("effective time of a thread in the line does not wait for the end of the code segment") {
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
  CHECK(a.state.smoother.is_idle());
  REQUIRE(world.wakers->find(kMutex));
  CHECK(world.wakers->find(kMutex)->local == a.local());
}
