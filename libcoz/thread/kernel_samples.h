// Samples that fell in the kernel.
//
// Without privileges, perf may sample user mode only, and drops a sample that finds the thread in
// kernel mode. But its periods of processor time go on, each as long as announced
// (expect_next) or else as the sampling period. So if a period ended during a call into
// the kernel, there was a sample in that call. To read the processor time takes a call as well; but
// it cannot have grown by more than the wall clock has, so that for most calls a look at the wall
// clock is enough.
//
// Samples come up to some ten microseconds late, so the end of a period is not known more exactly.
// It may seem to come just after the call in which it was. The next call then counts the sample, if
// it begins within kTolerance of that end.
//
// Samples that were dropped elsewhere (in calls without a wrapper, page faults, waiting for a lock)
// show at the next sample: they are counted, and belong to no line. They do belong to the regions
// that the thread was in all the while.
//
// With privileges, one signal comes for all periods that end in a call, as it returns:
// at_merged_sample().
//
// One thread owns it: at_sample() runs in its signal handler, at_return() in its wrappers. If the
// handler interrupts at_return(), that one sample is lost. Time is handed in.
#ifndef LIBCOZ_THREAD_KERNEL_SAMPLES_H
#define LIBCOZ_THREAD_KERNEL_SAMPLES_H

#include <algorithm>
#include <utility>

#include "common/clock.h"

namespace coz {

// What becomes of periods of processor time that end in the kernel.
enum class InKernel {
  kEach,     // a sample each, as the thread returns or later
  kMerged,   // one signal for all, as the thread returns
  kDropped,  // nothing
};

class KernelSamples {
 public:
  // More at once show a thread that blocked the signal, not time in the kernel.
  static constexpr Nanoseconds kMaxAtOnce = 100;
  // How long after a call a period that ended in it may seem to have ended.
  static constexpr Nanoseconds kTolerance = 50 * kMicrosecond;

  // The thread begins to be sampled, or does so again, having used that much processor time.
  void start_at(Nanoseconds processor_time, Nanoseconds period) noexcept {
    const bool is_known = expected_ != 0;
    next_ = is_known ? std::exchange(expected_, 0) : processor_time + period;
    event_period_ = is_known ? expected_period_ : 0;
    repeats_ = false;
    carried_ = not_before_ = 0;
  }

  // The sample that is being taken is followed by one at that processor time, and from then on, as
  // long as they are dropped, by others so far apart.
  void expect_next(Nanoseconds processor_time, Nanoseconds event_period) noexcept {
    expected_ = processor_time;
    expected_period_ = event_period;
  }

  // A sample at that processor time: returns how many were dropped since the last.
  Nanoseconds at_sample(Nanoseconds processor_time, Nanoseconds period) noexcept {
    const Nanoseconds apart = event_period_ != 0 ? event_period_ : period;
    const Nanoseconds missed =
        std::max<Nanoseconds>(0, (processor_time - next_ + apart / 2) / apart);
    const Nanoseconds samples = samples_of(missed, period);
    next_ += missed * apart;
    not_before_ = 0;
    if (expected_ != 0) {
      next_ = std::exchange(expected_, 0);
      event_period_ = expected_period_;
      repeats_ = false;
      return samples;
    }
    // Periods are exact, while samples come more or less late: the earliest ones show when a period
    // ended. The clocks may drift apart, so in the other direction the estimate follows slowly.
    const Nanoseconds late = processor_time - next_;
    next_ += late < 0 || late > period / 2 ? late : late / kSlowly;
    next_ += period;
    return samples;
  }

  // A sample at that processor time, where periods that end in the kernel are merged: how many it
  // stands for beyond the first.
  Nanoseconds at_merged_sample(Nanoseconds processor_time, Nanoseconds period) noexcept {
    const Nanoseconds late = processor_time - next_;
    next_ = expected_ != 0 ? std::exchange(expected_, 0) : processor_time + period;
    if (late <= period / 4) return 0;  // then the next one comes earlier (thread/sample_times.h)
    carried_ += late;
    const Nanoseconds samples = carried_ / period;
    carried_ %= period;
    return std::min(samples, kMaxAtOnce);
  }

  // True if the period may have ended by now: then call at_return().
  bool may_have_ended(Nanoseconds now) const noexcept { return now >= not_before_; }

  // A call that began at `start` returns: how many samples fell in it. Those dropped before it are
  // left to at_sample().
  Nanoseconds at_return(Nanoseconds start, Nanoseconds now, Nanoseconds processor_time,
                        Nanoseconds period) noexcept {
    const Nanoseconds apart = event_period_ != 0 ? event_period_ : period;
    Nanoseconds in_call = 0;
    if (processor_time >= next_) {
      const Nanoseconds ended = (processor_time - next_) / apart + 1;
      // How long ago the last period ended, in processor time; the call took at most as much.
      const Nanoseconds ago = (processor_time - next_) % apart;
      const Nanoseconds call = now - start;
      const Nanoseconds reach = call + kTolerance;
      if (reach >= ago) in_call = std::min((reach - ago) / apart + 1, ended);
      next_ += in_call * apart;
    }
    not_before_ = now + std::max<Nanoseconds>(next_ - processor_time, 0);
    return samples_of(in_call, period);
  }

 private:
  static constexpr Nanoseconds kSlowly = 64;

  // Of so many ends of the event's period: the first stands for a sample, as it was drawn at random
  // when it comes, the ones that repeat it for as much of one as they are long.
  Nanoseconds samples_of(Nanoseconds ends, Nanoseconds period) noexcept {
    if (ends == 0 || event_period_ == 0) return std::min(ends, kMaxAtOnce);
    const bool repeated = std::exchange(repeats_, true);
    carried_ += (repeated ? 0 : period) + (ends - (repeated ? 0 : 1)) * event_period_;
    const Nanoseconds samples = carried_ / period;
    carried_ %= period;
    return std::min(samples, kMaxAtOnce);
  }

  Nanoseconds next_ = 0;          // processor time at which the period ends
  Nanoseconds event_period_ = 0;  // of what is dropped then; 0: the period
  bool repeats_ = false;          // such a period has ended already
  Nanoseconds carried_ = 0;       // time of dropped samples that is not a whole period yet
  Nanoseconds expected_ = 0;      // expect_next(); 0: not called
  Nanoseconds expected_period_ = 0;
  Nanoseconds not_before_ = 0;  // wall clock: the period cannot end before
};

}  // namespace coz

#endif  // LIBCOZ_THREAD_KERNEL_SAMPLES_H
