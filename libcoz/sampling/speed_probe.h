// How fast the machine is now: the time that a fixed piece of work takes, measured at every sample.
//
// On a shared machine a processor may run at half its speed for some tenths of a second, because
// the other hardware thread of its core works for someone else; no counter of the system shows
// that. The probe runs on the sampled thread's processor, at moments spread over the window, and
// always does the same work, whatever the program does. So it distinguishes windows on a slow
// machine from windows in which the program itself was slow (docs/decisions/speed_probe.md).
//
// take() may run in signal handlers of all threads; get() anywhere. Lock-free.
#ifndef LIBCOZ_SAMPLING_SPEED_PROBE_H
#define LIBCOZ_SAMPLING_SPEED_PROBE_H

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "common/clock.h"

namespace coz {

class SpeedProbe {
 public:
  // This many iterations take about 0.3 µs at 3 GHz. The fastest of several tries counts, so that
  // neither a cold cache nor an interrupt has an influence.
  static constexpr int kIterations = 800;
  static constexpr int kTries = 3;

  struct Sum {
    std::uint64_t nanoseconds = 0;
    std::uint64_t probes = 0;
  };

  void take() noexcept {
    Nanoseconds best = kSecond;
    Nanoseconds start = now();
    for (int i = 0; i < kTries; ++i) {
      work();
      const Nanoseconds end = now();
      best = std::min(best, end - start);
      start = end;
    }
    nanoseconds_.fetch_add(static_cast<std::uint64_t>(best), std::memory_order_relaxed);
    probes_.fetch_add(1, std::memory_order_relaxed);
  }

  // Since the start of the run. The two numbers may differ by one probe.
  Sum get() const noexcept {
    return {nanoseconds_.load(std::memory_order_relaxed), probes_.load(std::memory_order_relaxed)};
  }

 private:
  // Bound by how many iterations a core can start, which the two hardware threads of a core share;
  // a chain of dependent operations would run at full speed beside another thread. Aligned, so that
  // an iteration takes one cycle: a loop across a boundary of the decoder's windows takes longer
  // when it is cold, that is, after a pause.
  static void work() noexcept {
    long turns = kIterations;
#if defined(__x86_64__)
    asm volatile(".p2align 6\n1:\n\tsub $1, %0\n\tjnz 1b" : "+r"(turns) : : "cc");
#elif defined(__aarch64__)
    asm volatile(".p2align 6\n1:\n\tsubs %0, %0, #1\n\tb.ne 1b" : "+r"(turns) : : "cc");
#else
    for (; turns > 0; --turns) asm volatile("" : "+r"(turns));
#endif
  }

  std::atomic<std::uint64_t> nanoseconds_{0};
  std::atomic<std::uint64_t> probes_{0};
};

// Mean time of the probes between `before` and `after`, ns; 0 if there were none.
inline double mean_probe_time(const SpeedProbe::Sum& before,
                              const SpeedProbe::Sum& after) noexcept {
  if (after.probes <= before.probes) return 0;
  return static_cast<double>(after.nanoseconds - before.nanoseconds) /
         static_cast<double>(after.probes - before.probes);
}

}  // namespace coz

#endif  // LIBCOZ_SAMPLING_SPEED_PROBE_H
