// What a sample costs the thread that is sampled: the timer's interrupt and the signal, measured
// once, and the handler's own work, measured at each sample.
//
// The first is a quarter of it on some machines and nearly all on others (virtual ones), so that it
// cannot be known beforehand.
#ifndef LIBCOZ_SAMPLING_SAMPLE_COST_H
#define LIBCOZ_SAMPLING_SAMPLE_COST_H

#include <atomic>
#include <cstdint>
#include <span>

#include "common/clock.h"

namespace coz {

// The handler's work so far. Any thread, also in signal handlers; lock-free.
class HandlerTime {
 public:
  // Longer than any handler works: it was itself interrupted.
  static constexpr Nanoseconds kMaxTime = 20 * kMicrosecond;

  void add(Nanoseconds time) noexcept {
    if (time > kMaxTime) return;
    nanoseconds_.fetch_add(static_cast<std::uint64_t>(time), std::memory_order_relaxed);
    samples_.fetch_add(1, std::memory_order_relaxed);
  }

  // Of a sample; 0 without any.
  Nanoseconds mean() const noexcept {
    const std::uint64_t samples = samples_.load(std::memory_order_relaxed);
    if (samples == 0) return 0;
    return static_cast<Nanoseconds>(nanoseconds_.load(std::memory_order_relaxed) / samples);
  }

 private:
  std::atomic<std::uint64_t> nanoseconds_{0};
  std::atomic<std::uint64_t> samples_{0};
};

// The same work, with samples a period apart and without, in processor time.
struct SampledRound {
  Nanoseconds without = 0;
  Nanoseconds with = 0;
};

// What one sample has added: the median over the rounds, and never below 0. Changes the order of
// the rounds. 0 without rounds.
Nanoseconds cost_of_sample(std::span<SampledRound> rounds, Nanoseconds period) noexcept;

// Lets the calling thread compute for some milliseconds, with samples by the trap event and
// without. The thread must not be one of the program's, and its samples are handled, that is,
// dropped, as those of any thread without a state. 0 when the event is refused. Not for signal
// handlers.
Nanoseconds measure_trap_cost() noexcept;

// For pthread_atfork: a child that is forked meanwhile has the event's descriptor, and no use for
// it.
void close_cost_event_in_forked_child() noexcept;

}  // namespace coz

#endif  // LIBCOZ_SAMPLING_SAMPLE_COST_H
