// Threads on a simulated clock, for tests of ThreadDelays: only sleeping and the tests advance it.
#ifndef TESTS_LIBCOZ_DELAY_DELAYS_WORLD_H
#define TESTS_LIBCOZ_DELAY_DELAYS_WORLD_H

#include <memory>

#include "delay/call_rules.h"
#include "delay/thread_delays.h"

namespace delays_world {

using coz::kMicrosecond;
using coz::kMillisecond;
using coz::Nanoseconds;
using coz::ThreadDelays;
using coz::WakeSource;

inline Nanoseconds clock_now;
inline Nanoseconds slept;
inline Nanoseconds overshoot;
inline int sleeps;
inline int timer_stops;
inline int timer_runs;
inline void (*during_sleep)();

inline Nanoseconds simulated_now() noexcept { return clock_now; }

inline void count_timer(bool runs) noexcept { ++(runs ? timer_runs : timer_stops); }

inline Nanoseconds simulated_sleep_until(Nanoseconds deadline) noexcept {
  ++sleeps;
  if (during_sleep != nullptr) during_sleep();
  const Nanoseconds woken = deadline + overshoot;
  slept += woken - clock_now;
  clock_now = woken;
  return clock_now;
}

inline constexpr Nanoseconds kDelay = 100 * kMicrosecond;
inline constexpr Nanoseconds kPeriod = kDelay;
inline constexpr Nanoseconds kMaxSaved = 5 * kMillisecond;
inline constexpr std::uint32_t kLine = 11;
inline constexpr std::uintptr_t kMutex = 0x1000;
inline constexpr std::uintptr_t kCondition = 0x2000;

struct World {
  explicit World(Nanoseconds delay = kDelay, Nanoseconds sampling_period = kPeriod)
      : period(sampling_period) {
    clock_now = 1000 * kMillisecond;
    slept = 0;
    overshoot = 0;
    sleeps = 0;
    timer_stops = timer_runs = 0;
    environment.run_timer = count_timer;
    during_sleep = nullptr;
    selection.select(kLine, delay);
  }
  const Nanoseconds period;
  coz::GlobalDelay global;
  std::unique_ptr<coz::WakerTable> wakers = std::make_unique<coz::WakerTable>();
  coz::PendingCharges pending;
  coz::YoungCharges young;
  coz::SelectionCell selection;
  coz::DelayEnvironment environment{global,    *wakers, pending,       young,
                                    selection, period,  simulated_now, simulated_sleep_until,
                                    kMaxSaved};
};

// A thread in a code segment that has lasted for several samples: samples are charged at once.
struct Thread {
  Thread(World& world, std::uint32_t slot) : delays(state, world.environment) {
    state.slot = slot;
    for (int i = 0; i < 10; ++i) state.smoother.sample(std::nullopt, kPeriod, 0);
  }
  Nanoseconds local() const { return state.clock.local(); }

  coz::DelayState state;
  ThreadDelays delays;
};

}  // namespace delays_world

#endif  // TESTS_LIBCOZ_DELAY_DELAYS_WORLD_H
