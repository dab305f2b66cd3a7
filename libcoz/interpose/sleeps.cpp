// Sleeping: the clock wakes the thread, so there is no credit, and the thread serves delays of that
// time afterwards. A sample never shortens a sleep.
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "interpose/blocking.h"
#include "interpose/deadline.h"
#include "interpose/export.h"
#include "kernel/real.h"

namespace {

using coz::OutsideWait;
using coz::WaitClass;

// `is_interrupted` says whether a signal has ended the call.
template <typename Call, typename IsInterrupted>
COZ_WRAPPER_PART int wait_for_clock(OutsideWait wait, Call call, IsInterrupted is_interrupted) {
  return coz::wait_outside(
      wait, call, [](const coz::ThreadDelays&, long) { return coz::kNoObject; },
      [=](long result) { return is_interrupted(static_cast<int>(result)); });
}

// For nanosleep and thrd_sleep: `remaining`, if given, is what a signal of the program's left of
// the sleep.
template <typename Sleep, typename IsInterrupted>
COZ_WRAPPER_PART int sleep_on(const timespec* duration, timespec* remaining, Sleep sleep,
                              IsInterrupted is_interrupted) {
  const auto sleep_once = [=] {
    timespec left{};
    const timespec* wanted = duration;
    const int result = coz::past_samples(
        [&] {
          const timespec now_wanted = wanted == nullptr ? timespec{} : *wanted;
          const int slept = sleep(wanted == nullptr ? nullptr : &now_wanted, &left);
          if (is_interrupted(slept)) wanted = &left;
          return slept;
        },
        is_interrupted);
    if (is_interrupted(result) && remaining != nullptr) *remaining = left;
    return result;
  };
  const OutsideWait wait(WaitClass::kSleep, duration == nullptr ? OutsideWait::kNever
                                                                : coz::nanoseconds_of(*duration));
  return wait_for_clock(wait, sleep_once, is_interrupted);
}

COZ_WRAPPER_PART int sleep_for(const timespec* duration, timespec* remaining) {
  return sleep_on(
      duration, remaining,
      [](const timespec* d, timespec* left) { return COZ_REAL(nanosleep)(d, left); },
      [](int result) { return coz::is_interrupted(result); });
}

}  // namespace

COZ_EXPORT int nanosleep(const timespec* duration, timespec* remaining) {
  return sleep_for(duration, remaining);
}

COZ_EXPORT int clock_nanosleep(clockid_t clock, int flags, const timespec* time,
                               timespec* remaining) {
  const auto is_interrupted = [](int error) { return error == EINTR; };
  if ((flags & TIMER_ABSTIME) != 0) {
    const coz::Deadline until(time, coz::is_of_real_time(clock) ? coz::behind_schedule(time) : 0);
    const auto sleep_once = [&] {
      return coz::past_samples(
          [&] { return COZ_REAL(clock_nanosleep)(clock, flags, until.get(), remaining); },
          is_interrupted);
    };
    const bool is_known = clock == CLOCK_MONOTONIC && time != nullptr;
    const OutsideWait wait(WaitClass::kSleep, OutsideWait::kNever,
                           is_known ? coz::nanoseconds_of(*time) : OutsideWait::kNever);
    return wait_for_clock(wait, sleep_once, is_interrupted);
  }
  return sleep_on(
      time, remaining,
      [=](const timespec* d, timespec* left) {
        return COZ_REAL(clock_nanosleep)(clock, flags, d, left);
      },
      is_interrupted);
}

COZ_EXPORT int thrd_sleep(const timespec* duration, timespec* remaining) {
  return sleep_on(
      duration, remaining,
      [](const timespec* d, timespec* left) { return COZ_REAL(thrd_sleep)(d, left); },
      [](int result) { return result == -1; });
}

COZ_EXPORT int usleep(useconds_t microseconds) {
  const timespec duration = {static_cast<time_t>(microseconds / 1'000'000),
                             static_cast<long>(microseconds % 1'000'000) * 1000};
  return sleep_for(&duration, nullptr);
}

COZ_EXPORT unsigned int sleep(unsigned int seconds) {
  const int saved = errno;
  const timespec duration = {static_cast<time_t>(seconds), 0};
  timespec remaining{};
  if (sleep_for(&duration, &remaining) < 0) return static_cast<unsigned int>(remaining.tv_sec);
  errno = saved;
  return 0;
}
