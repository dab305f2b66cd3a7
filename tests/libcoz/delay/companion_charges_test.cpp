// Charges where several targets are selected, each with a delay of its own.
#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "tests/libcoz/delay/delays_world.h"

using namespace delays_world;
using coz::SelectedTarget;

namespace {

constexpr Nanoseconds kLong = kMillisecond;
constexpr std::uintptr_t kInside = 0x401000;
constexpr std::uint32_t kFirst = 21;
constexpr std::uint32_t kSecond = 22;

struct CombinedWorld : World {
  CombinedWorld() : World(0, kLong) {
    REQUIRE(mixes.reserve(4));
    environment.mixes = &mixes;
  }
  void select(Nanoseconds main, Nanoseconds first, Nanoseconds second) {
    selection.select(kLine, main, std::vector<SelectedTarget>{{kFirst, first}, {kSecond, second}});
  }
  coz::ChargeMixes mixes;
};

// A thread whose code segments last 0.1 ms, a tenth of a period.
struct BusyThread {
  explicit BusyThread(CombinedWorld& world) : delays(state, world.environment, kInside) {
    state.slot = 1;
  }
  // Runs, and has a sample in each of `targets` in turn, one in a period. Returns what it was
  // charged.
  Nanoseconds run(int periods, const std::vector<std::uint32_t>& targets) {
    const Nanoseconds before = state.clock.local();
    for (int i = 0; i < 10 * periods; ++i) {
      if (i % 10 == 0) {
        delays.sampled(targets[static_cast<std::size_t>(i / 10) % targets.size()]);
      }
      clock_now += kLong / 10;
      delays.before_waking(kMutex);
    }
    return state.clock.local() - before;
  }
  coz::DelayState state;
  ThreadDelays delays;
};

}  // namespace

TEST_CASE("each selected target is charged its own delay") {
  CombinedWorld world;
  BusyThread thread(world);
  const std::vector<std::uint32_t> all = {kLine, kFirst, kSecond, coz::kNoTarget};
  world.select(kLong / 2, kLong / 4, kLong);
  thread.run(200, all);  // buckets fill
  CHECK(thread.run(400, all) == Approx(100 * (kLong / 2 + kLong / 4 + kLong)).epsilon(0.02));
  CHECK(world.global.get() == thread.state.clock.local());
}

TEST_CASE("a window is charged as it has drawn its targets, not as the one before it had") {
  CombinedWorld world;
  BusyThread thread(world);
  const std::vector<std::uint32_t> all = {kLine, kFirst, kSecond};
  world.select(0, 0, kLong);
  thread.run(300, all);
  // From its first period on, although the bucket is full of what was sampled before.
  world.select(0, kLong, 0);
  CHECK(thread.run(6, all) == Approx(2 * kLong).epsilon(0.2));
  world.select(kLong, 0, 0);
  CHECK(thread.run(6, all) == Approx(2 * kLong).epsilon(0.2));
  world.select(0, 0, 0);
  CHECK(thread.run(6, all) == 0);
}

TEST_CASE("what is left of a target that is no longer selected is dropped") {
  CombinedWorld world;
  BusyThread thread(world);
  world.select(0, kLong, 0);
  thread.run(100, {kFirst});
  world.selection.select(kLine, kLong, std::vector<SelectedTarget>{{kSecond, kLong}});
  CHECK(thread.run(1, {coz::kNoTarget}) == 0);
  CHECK(thread.state.smoother.is_idle());
}

TEST_CASE("what is left of a window with one target is not charged as what was there before it") {
  CombinedWorld world;
  BusyThread thread(world);
  world.select(0, kLong, 0);
  thread.run(100, {kFirst});
  world.selection.select(kLine, kLong);  // no companions: charges are of this target alone
  thread.run(100, {kLine});
  REQUIRE_FALSE(thread.state.smoother.is_idle());
  world.select(0, kLong, 0);
  CHECK(thread.run(1, {coz::kNoTarget}) == 0);
  CHECK(thread.state.smoother.is_idle());
}

TEST_CASE("without a main target companions are charged all the same") {
  CombinedWorld world;
  BusyThread thread(world);
  world.selection.select(coz::kNoTarget, 0, std::vector<SelectedTarget>{{kFirst, kLong / 2}});
  thread.run(200, {kFirst, kSecond});
  CHECK(thread.run(400, {kFirst, kSecond}) == Approx(200 * kLong / 2).epsilon(0.02));
}

TEST_CASE("a sample that is deferred is charged its own target's delay") {
  CombinedWorld world;
  BusyThread thread(world);
  world.select(kLong / 2, kLong / 4, kLong);
  REQUIRE(thread.delays.before_blocking());
  thread.delays.sampled(kFirst);
  thread.delays.sampled(coz::kNoTarget);
  thread.delays.after_blocking(WakeSource::kNone, coz::kNoObject);
  CHECK(thread.state.clock.local() == kLong / 4);
}

TEST_CASE("a thread that ends is charged what is left of each target") {
  CombinedWorld world;
  BusyThread thread(world);
  world.select(kLong / 2, kLong / 4, kLong);
  const Nanoseconds before = thread.run(3, {kLine, kFirst, kSecond});
  thread.delays.before_ending(kMutex);
  CHECK(before < thread.state.clock.local());
  CHECK(thread.state.clock.local() == Approx(kLong / 2 + kLong / 4 + kLong).epsilon(0.01));
}
