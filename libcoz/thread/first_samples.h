// When a thread whose samples come from an event of its own takes them: the first at a phase of its
// period (thread_lives.h), the others a period apart.
//
// An event has one period, so the first is the phase, and the event is set to the whole period when
// it has come. perf drops a sample that finds the thread in kernel mode; the event then goes on by
// the phase, and what it raises next is no sample.
//
// In perf-trap mode the thread also has the process's event, which all threads inherit. Its samples
// come at whole periods from the thread's start, so that they always show the same places of
// threads that do the same. They count for nothing until the thread is older. At the hand-over the
// first of them is taken with the probability that makes up for what has passed since the last
// sample, so that none is too many or missing on average.
//
// One thread owns it, and uses it in its signal handler, or before it has samples. Times are the
// thread's processor time, and handed in.
#ifndef LIBCOZ_THREAD_FIRST_SAMPLES_H
#define LIBCOZ_THREAD_FIRST_SAMPLES_H

#include <algorithm>
#include <limits>

#include "common/clock.h"
#include "thread/kernel_samples.h"

namespace coz {

class FirstSamples {
 public:
  // No event has a shorter period: it would be raised again before the handler can change it.
  static constexpr Nanoseconds kMinPeriod = 20 * kMicrosecond;
  static constexpr Nanoseconds kForever = std::numeric_limits<Nanoseconds>::max();

  // The event has just begun, with that period, and ends with its last sample before `until`.
  void begin(Nanoseconds processor_time, Nanoseconds phase, Nanoseconds event_period,
             Nanoseconds until) noexcept {
    event_period_ = event_period;
    due_ = processor_time + phase;
    until_ = until;
    is_steady_ = is_handed_over_ = false;
  }

  // The period that the event should have.
  Nanoseconds event_period() const noexcept { return event_period_; }

  // True once every sample follows the last by a period: then call raised(), else raised_at().
  bool is_steady() const noexcept { return is_steady_; }
  void raised(Nanoseconds period) noexcept { due_ += period; }

  // False if this is no sample: the one that was due fell in kernel mode, or has been taken. Sets
  // event_period().
  bool raised_at(Nanoseconds processor_time, Nanoseconds period) noexcept {
    const Nanoseconds late = processor_time - due_;
    if (event_period_ == period) {
      if (late < -period / 2) return false;
      is_steady_ = true;
      due_ = processor_time + period;
      return true;
    }
    const bool is_sample = !is_again(late);
    // When the event is set, its period begins anew.
    due_ = processor_time + (is_sample ? period : period - late % period);
    event_period_ = std::max(due_ - processor_time, period / 16);
    return is_sample;
  }

  // The process's event raises a sample while the thread has one of its own. True when that has
  // happened so often that the program must have closed the thread's.
  bool is_lost() noexcept { return ++ignored_ > kMaxIgnored; }

  // True when the next sample is that of the process's event.
  bool is_over() const noexcept { return due_ > until_; }
  void hand_over() noexcept { is_handed_over_ = true; }

  // The process's event raises a sample: the time that it stands for, if it is the first since the
  // hand-over, else a period.
  Nanoseconds stands_for(Nanoseconds processor_time, Nanoseconds period) const noexcept {
    return std::clamp<Nanoseconds>(processor_time - due_ + period, 0, period);
  }
  bool is_handed_over() const noexcept { return is_handed_over_; }
  void taken_over() noexcept { is_handed_over_ = false; }

  void reset() noexcept { *this = {}; }

 private:
  // Whether the event, raised so late, is raised for the second time or more. A sample may be late
  // for another reason, too: the hypervisor had taken the processor away.
  bool is_again(Nanoseconds late) const noexcept {
    if (event_period_ < 2 * KernelSamples::kTolerance || late < 0) return false;
    return late >= event_period_ && late % event_period_ < KernelSamples::kTolerance;
  }

  static constexpr int kMaxIgnored = 20;

  Nanoseconds event_period_ = 0;
  Nanoseconds due_ = 0;
  Nanoseconds until_ = 0;
  int ignored_ = 0;
  bool is_steady_ = false;
  bool is_handed_over_ = false;
};

}  // namespace coz

#endif  // LIBCOZ_THREAD_FIRST_SAMPLES_H
