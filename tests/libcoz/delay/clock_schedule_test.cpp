// Threads that wait for times of a schedule, which delays move in real time.
#include "delay/clock_schedule.h"

#include <catch2/catch.hpp>
#include <memory>

#include "delays_world.h"

namespace {

using namespace delays_world;
using coz::ClockSchedule;
using coz::ClockSchedules;

constexpr Nanoseconds kStep = 10 * kMillisecond;

}  // namespace

TEST_CASE("deadlines are postponed by what was served since their schedule began") {
  ClockSchedule schedule;
  Nanoseconds deadline = 5 * coz::kSecond;
  CHECK(schedule.postpone(deadline, 100) == 0);
  CHECK(schedule.postpone(deadline += kStep, 200) == 0);  // the schedule begins
  CHECK(schedule.postpone(deadline += kStep, 300) == 0);
  CHECK(schedule.postpone(deadline += kStep, 450) == 250);
  CHECK(schedule.postpone(deadline += kStep, 2 * kStep) == 2 * kStep - 200);
}

TEST_CASE("deadlines that depend on the clock are not postponed") {
  ClockSchedule schedule;
  Nanoseconds deadline = 5 * coz::kSecond;
  for (int i = 0; i < 100; ++i) {
    CHECK(schedule.postpone(deadline += kStep + i % 2, i * kMillisecond) == 0);
  }
}

TEST_CASE("a thread that begins its schedule anew is not behind it") {
  ClockSchedule schedule;
  Nanoseconds deadline = 5 * coz::kSecond;
  Nanoseconds local = 0;
  for (int i = 0; i < 5; ++i) schedule.postpone(deadline += kStep, local += kMillisecond);
  REQUIRE(schedule.postpone(deadline += kStep, local) > 0);
  const Nanoseconds missed = GENERATE(3 * kStep, kStep + 1, -kStep);
  deadline += missed;
  CHECK(schedule.postpone(deadline, local += kMillisecond) == 0);
  CHECK(schedule.postpone(deadline += kStep, local += kMillisecond) == 0);
  CHECK(schedule.postpone(deadline += kStep, local += kMillisecond) == 0);
  CHECK(schedule.postpone(deadline += kStep, local += kMillisecond) > 0);
}

TEST_CASE("a deadline for which a thread waits again is as late as before") {
  ClockSchedule schedule;
  Nanoseconds deadline = 5 * coz::kSecond;
  for (int i = 0; i < 5; ++i) schedule.postpone(deadline += kStep, 0);
  CHECK(schedule.postpone(deadline += kStep, 400) == 400);
  CHECK(schedule.postpone(deadline, 400) == 400);
  CHECK(schedule.postpone(deadline, 700) == 700);  // it has paid meanwhile
  CHECK(schedule.postpone(deadline += kStep, 700) == 700);
}

TEST_CASE("a thread may have several schedules, and other waits") {
  ClockSchedules schedules;
  Nanoseconds deadline = 5 * coz::kSecond;
  const auto tick_at = [&](std::uintptr_t site, Nanoseconds local) {
    return schedules.postpone(site, deadline, local);
  };
  for (int i = 0; i < 5; ++i) {
    deadline += kStep;
    for (std::uintptr_t site = 1; site <= ClockSchedules::kPlaces; ++site) tick_at(site, 0);
  }
  deadline += kStep;
  for (std::uintptr_t site = 1; site <= ClockSchedules::kPlaces; ++site) {
    CHECK(tick_at(site, 400) == 400);
  }
  // There is room for four: a fifth takes the place of the one not used for longest.
  CHECK(tick_at(5, 400) == 0);
  deadline += kStep;
  CHECK(tick_at(2, 500) == 500);
  CHECK(tick_at(1, 500) == 0);  // in the place of the fifth, which is no schedule
  CHECK(tick_at(3, 500) == 500);
  CHECK(tick_at(4, 500) == 500);
}

TEST_CASE("what does not count leaves a thread as late as it was") {
  ClockSchedule schedule;
  Nanoseconds deadline = 5 * coz::kSecond;
  for (int i = 0; i < 5; ++i) schedule.postpone(deadline += kStep, 0);
  CHECK(schedule.postpone(deadline += kStep, 300) == 300);
  CHECK(schedule.postpone(deadline += kStep, 900, false) == 300);
  CHECK(schedule.postpone(deadline += kStep, 1000) == 400);
}

TEST_CASE("a thread that keeps to a schedule keeps to it in effective time") {
  World world;
  const auto outside = std::make_unique<coz::OutsideQueues>();
  coz::DelayEnvironment holds_up = world.environment;
  holds_up.outside = outside.get();
  coz::DelayState state;
  state.slot = 1;
  ThreadDelays delays(state, holds_up, 0x3000);
  Thread other(world, 2);
  const Nanoseconds start = clock_now;
  Nanoseconds deadline = start;
  for (int tick = 1; tick <= 50; ++tick) {
    deadline += kStep;
    const Nanoseconds until = deadline + delays.behind_schedule(deadline);
    REQUIRE(delays.before_blocking(coz::WaitsFor::kOutside));
    other.state.clock.charge(kStep / 4, world.global);
    clock_now = std::max(clock_now, until);
    delays.after_blocking(WakeSource::kExternal, coz::kNoObject);
    if (tick > 3) CHECK(clock_now - state.clock.local() - start == tick * kStep - kStep / 4);
  }
}

TEST_CASE("no deadline is postponed where the clock is not held up") {
  World world;
  const auto outside = std::make_unique<coz::OutsideQueues>();
  coz::DelayEnvironment environment = world.environment;
  coz::DelayState state;
  ThreadDelays delays(state, environment, 0x3000);
  Nanoseconds deadline = clock_now;
  const auto behind = [&] {
    Nanoseconds latest = 0;
    for (int i = 0; i < 5; ++i) {
      state.clock.charge(kMillisecond, world.global);
      latest = delays.behind_schedule(deadline += kStep);
    }
    return latest;
  };
  CHECK(behind() == 0);  // as where load is amplified
  environment.outside = outside.get();
  CHECK(behind() > 0);
  state.blocked.store(true);
  state.blocked_frame = 1;
  environment.is_in_signal_handler = []() noexcept { return true; };
  CHECK(behind() == 0);
}
