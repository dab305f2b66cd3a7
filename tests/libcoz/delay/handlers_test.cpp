// Calls in signal handlers, and calls that handlers leave by a jump.
#include <catch2/catch.hpp>
#include <cstdint>

#include "tests/libcoz/delay/delays_world.h"

using namespace delays_world;

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
  SECTION("catching up") {
    a.state.blocked_frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) + 65536;
    a.delays.catch_up();
    CHECK(sleeps == 0);
    CHECK(a.state.blocked);
  }
  SECTION("waiting") {
    a.state.blocked_frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) + 65536;
    CHECK_FALSE(a.delays.before_blocking());
    CHECK(a.state.blocked);
  }
}

TEST_CASE("COZ_CATCH_UP in a marked wait ends it, as other calls do, and what it pays is kept") {
  World world;
  Thread a(world, 7);
  a.delays.before_marked_wait();
  world.global.raise_to(5 * kDelay);
  a.delays.catch_up();
  CHECK(slept == 5 * kDelay);
  CHECK(a.local() == 5 * kDelay);
  CHECK_FALSE(a.delays.is_in_marked_wait());
}

TEST_CASE("after COZ_CATCH_UP in a marked wait the thread's timer runs, also if nothing is owed") {
  World world;
  Thread a(world, 7);
  a.state.has_timer = true;
  a.delays.before_marked_wait();
  REQUIRE(timer_stops == 1);
  a.delays.catch_up();
  CHECK(timer_runs == 1);
}

TEST_CASE("a call that a handler left by longjmp no longer counts as waiting") {
  World world;
  Thread a(world, 7);
  REQUIRE(a.delays.before_blocking());
  world.global.raise_to(5 * kDelay);
  // The next call comes from the same depth.
  a.delays.before_waking(kMutex);
  CHECK_FALSE(a.state.blocked);
  CHECK(slept == 5 * kDelay);
}

TEST_CASE("deep below a call, the stack tells a handler from what follows a jump out of the call") {
  World world;
  static bool is_in_handler;
  is_in_handler = GENERATE(true, false);
  world.environment.is_in_signal_handler = []() noexcept { return is_in_handler; };
  Thread a(world, 7);
  REQUIRE(a.delays.before_blocking());
  a.state.blocked_frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) + 65536;
  world.global.raise_to(5 * kDelay);
  a.delays.before_waking(kMutex);
  CHECK(a.state.blocked == is_in_handler);
  CHECK(slept == (is_in_handler ? 0 : 5 * kDelay));
}

TEST_CASE("in a marked wait, calls of the library that waits change nothing") {
  World world;
  world.environment.is_in_signal_handler = []() noexcept { return false; };
  Thread a(world, 7);
  a.delays.before_marked_wait();
  a.state.blocked_frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) + 65536;
  world.global.raise_to(5 * kDelay);
  a.delays.before_waking(kMutex);
  CHECK(a.delays.is_in_marked_wait());
  CHECK(slept == 0);
}

TEST_CASE("a thread owes nothing again where a handler in a thread that waits has woken it") {
  World world;
  Thread waits_long(world, 7);
  Thread woken(world, 8);
  REQUIRE(waits_long.delays.before_blocking());
  // Since then G has grown, and the other has served it.
  world.global.raise_to(5 * kDelay);
  woken.delays.settle();
  REQUIRE(woken.local() == 5 * kDelay);
  sleeps = 0;
  slept = 0;
  REQUIRE(woken.delays.before_blocking());
  waits_long.delays.record(kMutex);  // as in a handler: what it had served when it began to wait
  clock_now += kMillisecond;
  woken.delays.after_blocking(WakeSource::kThread, kMutex);
  CHECK(slept <= coz::kMinPause);
  CHECK(woken.local() >= 5 * kDelay - coz::kMinPause);
}

TEST_CASE("a thread whose handler has left a pause by longjmp pays again") {
  World world;
  Thread a(world, 1);
  a.state.busy = true;
  a.state.pausing = true;
  world.global.raise_to(5 * kDelay);
  SECTION("after the jump") {
    a.state.busy_frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) - 65536;
    a.delays.settle();
    CHECK(a.local() == 5 * kDelay);
    CHECK_FALSE(a.state.busy);
    CHECK_FALSE(a.state.pausing);
  }
  SECTION("not in the handler itself") {
    a.state.busy_frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) + 65536;
    a.delays.settle();
    CHECK(a.local() == 0);
    CHECK(a.state.busy);
  }
  SECTION("nor in one on another stack") {
    a.state.busy_frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) - (1U << 30);
    a.delays.settle();
    CHECK(a.local() == 0);
  }
}
