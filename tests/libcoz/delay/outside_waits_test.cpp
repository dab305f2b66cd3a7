// Threads that wait for something outside, which serves one request at a time.
#include <catch2/catch.hpp>

#include "delays_world.h"

namespace {

using namespace delays_world;

constexpr std::uintptr_t kSite = 0x3000;
constexpr Nanoseconds kService = 800 * kMicrosecond;

struct OutsideWorld : World {
  OutsideWorld() { holds_up.outside = outside.get(); }
  std::unique_ptr<coz::OutsideQueues> outside = std::make_unique<coz::OutsideQueues>();
  coz::DelayEnvironment holds_up = environment;
};

struct AskingThread {
  AskingThread(OutsideWorld& world, std::uint32_t slot) : delays(state, world.holds_up, kSite) {
    state.slot = slot;
  }
  void ask() { REQUIRE(delays.before_blocking(coz::WaitsFor::kOutside)); }
  void end(WakeSource wake_source = WakeSource::kExternal) {
    delays.after_blocking(wake_source, coz::kNoObject);
  }

  coz::DelayState state;
  ThreadDelays delays;
};

// Two threads ask in turn, each while the other's request is served. At the end none does.
void ask_in_turn(AskingThread& one, AskingThread& other) {
  one.ask();
  Nanoseconds end = clock_now + kService;
  for (int i = 0; i < 100; ++i) {
    AskingThread& served = i % 2 == 0 ? one : other;
    AskingThread& next = i % 2 == 0 ? other : one;
    clock_now = end - (100 + i * 37 % 500) * kMicrosecond;
    next.ask();
    clock_now = end;
    served.end();
    end += kService;
  }
  clock_now = end;
  one.end();
  clock_now += 10 * kService;
}

}  // namespace

TEST_CASE("a wait lasts until what is outside would have served it in effective time") {
  OutsideWorld world;
  AskingThread one(world, 1);
  AskingThread other(world, 2);
  ask_in_turn(one, other);
  REQUIRE(sleeps == 0);

  one.ask();
  const Nanoseconds start = clock_now;
  // Meanwhile the other runs the selected line, until just after the request is done.
  clock_now = start + kService;
  world.global.raise_to(600 * kMicrosecond);
  other.state.clock.charge(600 * kMicrosecond, world.global);
  one.end();  // pays 600
  CHECK(clock_now == start + kService + 600 * kMicrosecond);

  // It asks at 900, which is 300 in effective time, when the first is still served until 800.
  clock_now = start + 900 * kMicrosecond;
  other.ask();
  clock_now += kService;
  const Nanoseconds served = clock_now;
  other.end();
  CHECK(clock_now == served + 500 * kMicrosecond);
  CHECK(other.state.clock.local() == 600 * kMicrosecond);  // that was no pause
}

TEST_CASE("a wait that another thread or a time-out ended is not prolonged") {
  OutsideWorld world;
  AskingThread one(world, 1);
  AskingThread other(world, 2);
  ask_in_turn(one, other);
  for (const bool served : {true, false}) {
    one.ask();
    const Nanoseconds start = clock_now;
    other.state.clock.charge(600 * kMicrosecond, world.global);
    clock_now += kService;
    one.end();
    clock_now = start + 900 * kMicrosecond;
    other.ask();
    clock_now += kService;
    const Nanoseconds ended = clock_now;
    if (served) {
      other.end(WakeSource::kThread);
    } else {
      other.delays.leave_outside_queue();  // as after a time-out
      other.end();
    }
    CHECK(clock_now == ended);
    clock_now += 10 * kService;
  }
}

TEST_CASE("a thread that ends in a wait, or jumps out of it, does not stay in the queue") {
  OutsideWorld world;
  AskingThread one(world, 1);
  AskingThread other(world, 2);
  one.ask();
  one.delays.before_ending(0x9000);
  other.ask();
  REQUIRE(other.state.outside.place != 0);
  CHECK(other.state.outside.request.ahead == 0);
  other.state.blocked.store(false);
  other.ask();
  REQUIRE(other.state.outside.place != 0);
  CHECK(other.state.outside.request.ahead == 0);
  other.state.blocked.store(false);
  REQUIRE(other.delays.before_blocking());
  CHECK(other.state.outside.place == 0);
}

TEST_CASE("where what is outside is not held up, waits last as long as they do") {
  OutsideWorld world;
  world.holds_up.outside = nullptr;
  AskingThread one(world, 1);
  AskingThread other(world, 2);
  ask_in_turn(one, other);
  one.ask();
  const Nanoseconds start = clock_now;
  clock_now += kService;
  other.state.clock.charge(600 * kMicrosecond, world.global);
  one.end();
  clock_now = start + 900 * kMicrosecond;
  other.ask();
  clock_now += kService;
  const Nanoseconds served = clock_now;
  other.end();
  CHECK(clock_now == served);
}
