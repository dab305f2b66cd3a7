// When a thread with an event of its own takes samples: the first at a phase of its period
// (thread_lives.h), the second a period later, and then at random, a period apart on average, lest
// samples keep step with a loop.
//
// An event has one period, which is set anew at each sample. perf drops a sample that finds the
// thread in kernel mode; if that is the first sample, the event keeps the phase as its period, and
// its next signal is no sample.
//
// One thread owns it, and uses it in its signal handler, or before it has samples. Times are the
// thread's processor time, and handed in.
#ifndef LIBCOZ_THREAD_SAMPLE_TIMES_H
#define LIBCOZ_THREAD_SAMPLE_TIMES_H

#include <algorithm>
#include <cstdint>

#include "common/clock.h"
#include "thread/kernel_samples.h"

namespace coz {

class SampleTimes {
 public:
  // No event has a shorter period: it would be raised again before the handler can change it.
  static constexpr Nanoseconds kMinPeriod = 20 * kMicrosecond;

  // The event has just begun, with that period.
  void begin(Nanoseconds processor_time, Nanoseconds phase, Nanoseconds event_period) noexcept {
    event_period_ = event_period;
    due_ = processor_time + phase;
    is_steady_ = false;
    ignored_ = 0;
  }

  // The period that the event should have.
  Nanoseconds event_period() const noexcept { return event_period_; }

  // True once everything that the event raises is a sample: then call raised(), else raised_at().
  bool is_steady() const noexcept { return is_steady_; }
  // `random` is any number.
  void raised(Nanoseconds processor_time, std::uint64_t random, Nanoseconds period) noexcept {
    ignored_ = 0;
    // It was raised when it was due, unless others were dropped before.
    const Nanoseconds late = processor_time - due_;
    if (late < 0 || late > period / 4) due_ = processor_time;
    const auto length = static_cast<std::uint64_t>(period);
    due_ += period / 2 + static_cast<Nanoseconds>((random >> 32) * length >> 32);
    event_period_ = std::max(due_ - processor_time, kMinPeriod);
  }
  // When the next sample is due.
  Nanoseconds due() const noexcept { return due_; }

  // False if this is no sample: the one that was due fell in kernel mode, where that is dropped, or
  // has been taken. Sets event_period().
  bool raised_at(Nanoseconds processor_time, Nanoseconds period,
                 InKernel in_kernel = InKernel::kDropped) noexcept {
    const Nanoseconds late = processor_time - due_;
    if (event_period_ == period) {
      if (late < -period / 2) return false;
      is_steady_ = true;
      due_ = processor_time;
      return true;
    }
    const bool is_sample = in_kernel == InKernel::kMerged || !is_again(late);
    // When the event is set, its period begins anew.
    due_ = processor_time + (is_sample ? period : period - late % period);
    event_period_ = std::max(due_ - processor_time, period / 16);
    return is_sample;
  }

  // The process's event raises a sample while the thread has one of its own. True when that has
  // happened so often that the program must have closed the thread's.
  bool is_lost() noexcept { return ++ignored_ > kMaxIgnored; }

  void reset() noexcept { *this = {}; }

 private:
  // Whether the event, raised so late, is raised for the second time or more. A sample may be late
  // for another reason, too: the hypervisor had taken the processor away.
  bool is_again(Nanoseconds late) const noexcept {
    if (event_period_ < 2 * KernelSamples::kTolerance || late < 0) return false;
    return late >= event_period_ && late % event_period_ < KernelSamples::kTolerance;
  }

  static constexpr int kMaxIgnored = 3;

  Nanoseconds event_period_ = 0;
  Nanoseconds due_ = 0;
  int ignored_ = 0;
  bool is_steady_ = false;
};

}  // namespace coz

#endif  // LIBCOZ_THREAD_SAMPLE_TIMES_H
