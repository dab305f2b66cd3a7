// What a sample costs the sampled thread: the interrupt and the signal, measured once, and the
// handler's own work, measured at each sample.
//
// Interrupt and signal are a quarter of the cost on some machines, and nearly all of it on others
// (virtual ones). So their part cannot be assumed; it is measured.
#ifndef LIBCOZ_SAMPLING_SAMPLE_COST_H
#define LIBCOZ_SAMPLING_SAMPLE_COST_H

#include <atomic>
#include <cstdint>
#include <span>

#include "common/clock.h"

namespace coz {

// The time that the handler has worked so far. Any thread, also in signal handlers; lock-free.
class HandlerTime {
 public:
  // Longer than a handler works, unless it is interrupted itself.
  static constexpr Nanoseconds kMaxTime = 20 * kMicrosecond;

  void add(Nanoseconds time) noexcept {
    if (time > kMaxTime) return;
    nanoseconds_.fetch_add(static_cast<std::uint64_t>(time), std::memory_order_relaxed);
    samples_.fetch_add(1, std::memory_order_relaxed);
  }

  // For one sample; 0 if there was none.
  Nanoseconds mean() const noexcept {
    const std::uint64_t samples = samples_.load(std::memory_order_relaxed);
    if (samples == 0) return 0;
    return static_cast<Nanoseconds>(nanoseconds_.load(std::memory_order_relaxed) / samples);
  }

 private:
  std::atomic<std::uint64_t> nanoseconds_{0};
  std::atomic<std::uint64_t> samples_{0};
};

// Processor time of the same work, with a sample in each period and without.
struct SampledRound {
  Nanoseconds without = 0;
  Nanoseconds with = 0;
};

// What one sample added: the median over the rounds, at least 0. Changes the order of the rounds. 0
// if there are none.
Nanoseconds cost_of_sample(std::span<SampledRound> rounds, Nanoseconds period) noexcept;

// Lets the calling thread compute for some milliseconds, with samples by the trap event and
// without. The thread must be one of ours; its samples are dropped, like those of any thread
// without a state. 0 if the event is refused. Not for signal handlers.
Nanoseconds measure_trap_cost() noexcept;

// For pthread_atfork: a child that is forked meanwhile inherits the event's descriptor, which it
// does not need.
void close_cost_event_in_forked_child() noexcept;

}  // namespace coz

#endif  // LIBCOZ_SAMPLING_SAMPLE_COST_H
