// In mode timer: when a new thread takes its first samples. Ticks (tick_account.h) rarely find
// short threads, and none where there is no core for the timer's thread.
//
// The thread has a timer of its own. The first sample is due at a phase of the thread's period
// (thread_lives.h), the others a period apart, in the thread's processor time. The timer runs by
// the wall clock, since the kernel looks at processor time once a tick only (4 ms). It is set to
// when the sample is due if the thread runs on; where the thread has not, it is set again for the
// rest. In pauses and in calls that may wait it is held (DelayState::has_timer). Once the thread is
// older, ticks take over.
//
// One thread owns it, and uses it in its signal handler and its wrappers. Times are the thread's
// processor time, and handed in.
#ifndef LIBCOZ_THREAD_YOUNG_TIMER_H
#define LIBCOZ_THREAD_YOUNG_TIMER_H

#include <algorithm>

#include "common/clock.h"

namespace coz {

class YoungTimer {
 public:
  // A timer that fires early by at most this is a sample all the same.
  static constexpr Nanoseconds kTolerance = 10 * kMicrosecond;
  // It is not set to less.
  static constexpr Nanoseconds kMinTime = 5 * kMicrosecond;
  // So many times in a row the thread may have run for less than a quarter of the time that was
  // set: it waits in a call without a wrapper.
  static constexpr int kMaxMisses = 3;
  // After a while without signals (stopped, starved) missed samples are not made up for.
  static constexpr Nanoseconds kMaxMissed = 10;

  // Ends with the last sample before `until`.
  void begin(Nanoseconds used, Nanoseconds phase, Nanoseconds until) noexcept {
    due_ = used + phase;
    until_ = until;
    misses_ = 0;
  }

  // The timer has fired: whether that is a sample.
  bool fired(Nanoseconds used, Nanoseconds period) noexcept {
    const bool ran = used - set_at_ >= time_ / 4;
    if (used < due_ - kTolerance) {
      misses_ = ran ? 0 : misses_ + 1;
      return false;
    }
    misses_ = 0;
    due_ += period;
    if (used - due_ > kMaxMissed * period) due_ = used + period;
    return true;
  }

  // The timer is set now. Returns to how far from now, given by how much it fires late.
  Nanoseconds set(Nanoseconds used, Nanoseconds lateness) noexcept {
    set_at_ = used;
    time_ = std::max(due_ - used - lateness, kMinTime);
    return time_;
  }

  // True when ticks are to take over: the next sample is due() then.
  bool is_over() const noexcept { return due_ > until_ || misses_ >= kMaxMisses; }
  Nanoseconds due() const noexcept { return due_; }

 private:
  Nanoseconds set_at_ = 0;
  Nanoseconds time_ = 0;
  Nanoseconds due_ = 0;
  Nanoseconds until_ = 0;
  int misses_ = 0;
};

}  // namespace coz

#endif  // LIBCOZ_THREAD_YOUNG_TIMER_H
