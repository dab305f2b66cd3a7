// Samples that fell in the kernel.
//
// What perf finds in kernel mode it drops, since unprivileged it may sample user mode only. But its
// periods of processor time go on. So when a call into the kernel returns, and the period has ended
// meanwhile, there was a sample in that call. To read the processor time is itself a call; but it
// cannot have grown by more than the wall clock has, so that most calls need only that.
//
// When exactly the period ended is known to some ten microseconds, by which samples come late. It
// may so seem to have ended just after the call in which it did; then the next call gets it.
//
// Samples that were dropped elsewhere (in calls that nothing intercepts, page faults, waiting for a
// lock) show at the next one: they are counted, and belong to no place.
//
// Owned by one thread: at_sample() is called in its signal handler, at_return() in its wrappers.
// An interruption by the handler in at_return() costs that one sample. Time is handed in.
#ifndef LIBCOZ_THREAD_KERNEL_SAMPLES_H
#define LIBCOZ_THREAD_KERNEL_SAMPLES_H

#include <algorithm>

#include "common/clock.h"

namespace coz {

class KernelSamples {
 public:
  // More at once are not time in the kernel, but a thread that blocked the signal.
  static constexpr Nanoseconds kMaxAtOnce = 100;
  // How long after a call the period may seem to have ended that ended in it.
  static constexpr Nanoseconds kTolerance = 50 * kMicrosecond;

  // The thread begins, having used so much processor time.
  void start_at(Nanoseconds processor_time, Nanoseconds period) noexcept {
    next_ = processor_time + period;
    not_before_ = 0;
  }

  // A sample, after so much processor time: how many were dropped since the last.
  Nanoseconds at_sample(Nanoseconds processor_time, Nanoseconds period) noexcept {
    const Nanoseconds missed =
        std::max<Nanoseconds>(0, (processor_time - next_ + period / 2) / period);
    next_ += missed * period;
    // Periods are exact, samples more or less late: those that are least so tell the time. The
    // clocks may drift apart, so that it is followed slowly in the other direction.
    const Nanoseconds late = processor_time - next_;
    next_ += late < 0 || late > period / 2 ? late : late / kSlowly;
    next_ += period;
    not_before_ = 0;
    return std::min(missed, kMaxAtOnce);
  }

  // Can the period have ended by now? If so, ask at_return().
  bool may_have_ended(Nanoseconds now) const noexcept { return now >= not_before_; }

  // A call that began at `start` returns: how many samples fell in it. Those dropped before it
  // are left to at_sample().
  Nanoseconds at_return(Nanoseconds start, Nanoseconds now, Nanoseconds processor_time,
                        Nanoseconds period) noexcept {
    Nanoseconds in_call = 0;
    if (processor_time >= next_) {
      const Nanoseconds ended = (processor_time - next_) / period + 1;
      // The last period ended so long ago, in processor time; the call took as much at most.
      const Nanoseconds ago = (processor_time - next_) % period;
      const Nanoseconds call = now - start;
      const Nanoseconds reach = call + kTolerance;
      if (reach >= ago) in_call = std::min((reach - ago) / period + 1, ended);
      next_ += in_call * period;
    }
    not_before_ = now + std::max<Nanoseconds>(next_ - processor_time, 0);
    return std::min(in_call, kMaxAtOnce);
  }

 private:
  static constexpr Nanoseconds kSlowly = 64;

  Nanoseconds next_ = 0;        // processor time at which the period ends
  Nanoseconds not_before_ = 0;  // wall clock: earlier it cannot
};

}  // namespace coz

#endif  // LIBCOZ_THREAD_KERNEL_SAMPLES_H
