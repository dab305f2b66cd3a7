// How fast the machine is now: the time that a fixed piece of work takes, measured at every sample.
//
// On a shared machine a processor may run at half its speed for some tenths of a second, because
// the other thread of its core works for somebody else; no counter of the system tells. The probe
// runs on the sampled thread's processor at moments spread over the window, does the same work each
// time, and knows nothing of the program, so that windows measured on a slow machine can be told
// from windows in which the program itself was slow (docs/decisions/speed_probe.md).
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
  // A loop of this many turns takes about 0.3 µs on a processor of 3 GHz; of several, the fastest
  // counts, so that neither a cold cache nor an interrupt enters.
  static constexpr int kTurns = 800;
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

  // Since the start of the run. The two numbers may be a probe apart.
  Sum get() const noexcept {
    return {nanoseconds_.load(std::memory_order_relaxed), probes_.load(std::memory_order_relaxed)};
  }

 private:
  // Bound by how many turns a core can start, which two threads of a core share; a chain of
  // dependent operations would run at full speed beside another.
  // Aligned, so that it takes one cycle a turn wherever it comes to lie; a loop across a boundary
  // of the decoder's windows takes longer when it is cold, that is, after a pause.
  static void work() noexcept {
    long turns = kTurns;
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

// Mean time of the probes from `before` to `after`, ns; 0 without any.
inline double mean_probe_time(const SpeedProbe::Sum& before,
                              const SpeedProbe::Sum& after) noexcept {
  if (after.probes <= before.probes) return 0;
  return static_cast<double>(after.nanoseconds - before.nanoseconds) /
         static_cast<double>(after.probes - before.probes);
}

}  // namespace coz

#endif  // LIBCOZ_SAMPLING_SPEED_PROBE_H
