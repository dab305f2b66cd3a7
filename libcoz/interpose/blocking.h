// What wrappers of blocking calls share: how the rules name objects, what results mean, and how to
// repeat a call that only a sample interrupted.
//
// Wrappers run in any thread of the program, also before our constructor and in processes that are
// not profiled: then they pass the call on. errno and return values are the real call's.
#ifndef LIBCOZ_INTERPOSE_BLOCKING_H
#define LIBCOZ_INTERPOSE_BLOCKING_H

#include <pthread.h>
#include <threads.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "delay/call_rules.h"
#include "interpose/export.h"
#include "interpose/kernel_call.h"
#include "interpose/object_keys.h"
#include "interpose/signal_wakes.h"
#include "lifecycle/runtime.h"
#include "thread/session.h"

namespace coz {

// True if another thread may be waiting for a mutex that the caller holds. Glibc's lock word is 1
// while the mutex is held and no thread waits, and 2 while one may. Other kinds (robust, priority
// inheritance) store the owner there and count as waited for, which costs no more than reading the
// clock. An mtx_t is a pthread_mutex_t inside.
inline bool is_waited_for(const void* mutex) noexcept {
  const auto& data = static_cast<const pthread_mutex_t*>(mutex)->__data;
  return __atomic_load_n(&data.__lock, __ATOMIC_RELAXED) != 1;
}

// The thread that holds a mutex, by its id in the kernel; 0 if nobody does. Only while the mutex
// certainly exists, as for the caller of a lock function.
inline LockHolder holder_of(const void* mutex) noexcept {
  const auto& data = static_cast<const pthread_mutex_t*>(mutex)->__data;
  return static_cast<LockHolder>(__atomic_load_n(&data.__owner, __ATOMIC_RELAXED));
}

// Only this error of an attempt is followed by the waiting call. Any other is final: for a robust
// mutex that is not recoverable, the waiting call would never return.
inline bool is_busy(int error) { return error == EBUSY; }

// Of timed calls. libc refuses an unfit clock or deadline even if the object is free, and then it
// must not be taken. No deadline (nullptr, behind the compiler's back) is none to refuse.
inline bool is_valid(clockid_t clock) noexcept {
  return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
}
inline bool is_valid(const timespec* deadline) noexcept {
  asm("" : "+r"(deadline));
  if (deadline == nullptr) return true;
  return deadline->tv_nsec >= 0 && deadline->tv_nsec < kSecond;
}

// For calls that return an error number: a time-out is external, and another error did not block.
inline WakeSource wake_source_of_error_number(int error) {
  if (error == 0 || error == EOWNERDEAD) return WakeSource::kThread;
  return error == ETIMEDOUT ? WakeSource::kExternal : WakeSource::kNone;
}

// For calls of C11, which return thrd_…
inline WakeSource wake_source_of_c11(int result) {
  if (result == thrd_success) return WakeSource::kThread;
  return result == thrd_timedout ? WakeSource::kExternal : WakeSource::kNone;
}

// For calls that return -1 and set errno.
inline WakeSource wake_source_of_errno(long result) {
  if (result >= 0) return WakeSource::kThread;
  return errno == ETIMEDOUT || errno == EINTR ? WakeSource::kExternal : WakeSource::kNone;
}

// Calls that wait end with EINTR when a handler ran, ours or the program's. A program must not see
// an EINTR that it would not see without the profiler, and must see one by a handler of its own. So
// a call is repeated while only our handler interrupts it. (A signal for the program that arrives
// between the two calls finds the thread outside a call, which may happen without a profiler, too.)
class Interruptions {
 public:
  Interruptions() noexcept : thread_(Session::current_thread()) {
    if (thread_ != nullptr) outer_ = thread_->interruptions.load(std::memory_order_relaxed);
  }
  // Interruptions of calls that a handler makes do not count for the call that the handler
  // interrupted.
  ~Interruptions() {
    if (thread_ != nullptr) thread_->interruptions.store(outer_, std::memory_order_relaxed);
  }
  Interruptions(const Interruptions&) = delete;
  Interruptions& operator=(const Interruptions&) = delete;

  // True if there were any since the last time it was called.
  bool any() noexcept {
    if (thread_ == nullptr) return false;
    const std::uint32_t now = thread_->interruptions.load(std::memory_order_relaxed);
    thread_->interruptions.store(outer_, std::memory_order_relaxed);
    return now != outer_;
  }

 private:
  ThreadState* thread_;
  std::uint32_t outer_ = 0;
};

template <typename Call, typename IsInterrupted>
auto past_samples(Call call, IsInterrupted is_interrupted) {
  for (Interruptions interruptions;;) {
    const auto result = call();
    if (!is_interrupted(result) || !interruptions.any()) return result;
  }
}

inline bool is_interrupted(long result) { return result == -1 && errno == EINTR; }

// A time-out in nanoseconds, a century at most, so that sums with it do not overflow.
constexpr Nanoseconds nanoseconds_of(const timespec& time) noexcept {
  constexpr time_t kCentury = 100L * 366 * 24 * 3600;
  return std::clamp(time.tv_sec, -kCentury, kCentury) * kSecond + time.tv_nsec;
}

// By how much to postpone a deadline of the program's, if it is of a schedule. After profiling, the
// thread stays as late as it is by then: else all ticks that are due would come at once.
COZ_WRAPPER_PART Nanoseconds behind_schedule(const timespec* deadline) {
  if (deadline == nullptr) return 0;
  const Nanoseconds at = nanoseconds_of(*deadline);
  if (auto delays = Session::current_delays()) return delays->behind_schedule(at);
  ThreadState* thread = Session::registered_thread();
  if (thread == nullptr || !Session::is_in_own_process()) return 0;
  const auto site = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  return thread->delay.schedules.postpone(site, at, thread->delay.clock.local());
}

// Whether a clock measures real time; clocks of processor time stand still in pauses.
inline bool is_of_real_time(clockid_t clock) noexcept {
  return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME ||
         clock == CLOCK_TAI;
}

// The relative time-out of a call that may be repeated: all of it at first, then what is left.
class Remaining {
 public:
  explicit Remaining(Nanoseconds whole) : whole_(whole), deadline_(now() + whole) {}

  Nanoseconds get() {
    if (is_first_) {
      is_first_ = false;
      return whole_;
    }
    const Nanoseconds left = deadline_ - now();
    return left > 0 ? left : 0;
  }

 private:
  Nanoseconds whole_;
  Nanoseconds deadline_;
  bool is_first_ = true;
};

// past_samples() for a call with a relative time-out, which `call` gets: as given at first, so that
// an invalid one fails as it would without us, then what is left of it. nullptr: none.
template <typename Call, typename IsInterrupted>
auto past_samples_within(const timespec* timeout, Call call, IsInterrupted is_interrupted) {
  Remaining remaining(timeout == nullptr ? 0 : nanoseconds_of(*timeout));
  bool is_first = true;
  return past_samples(
      [&] {
        if (timeout == nullptr) return call(timeout);
        const Nanoseconds left = remaining.get();
        const timespec rest = {left / kSecond, left % kSecond};
        const timespec* given = is_first ? timeout : &rest;
        is_first = false;
        return call(given);
      },
      is_interrupted);
}

// Of a wait for something outside: its class, and when it ends by the clock at the latest, as a
// time or as a time-out from the beginning of the wait.
struct OutsideWait {
  static constexpr Nanoseconds kNever = WaitCharges::kNoDeadline;

  constexpr OutsideWait(WaitClass of_class, Nanoseconds ends_after = kNever,
                        Nanoseconds ends_at = kNever) noexcept
      : wait_class(of_class), timeout(ends_after), deadline(ends_at) {}

  Nanoseconds ends() const noexcept { return timeout == kNever ? deadline : now() + timeout; }

  // The same wait, whose `released` also says who ended a call that got nothing.
  constexpr OutsideWait and_ends() const noexcept {
    OutsideWait other = *this;
    other.tells_ends = true;
    return other;
  }

  // Whether the call may read, or be told what can be read.
  bool may_read() const noexcept {
    return wait_class != WaitClass::kSleep && wait_class != WaitClass::kChild;
  }

  // Whether a call with that result got what it waited for, which may have served others first. A
  // sleep until a time may stand for something that is done then, a sleep for a time does not.
  bool was_served(long result) const noexcept {
    switch (wait_class) {
      case WaitClass::kSleep:
        return result == 0 && timeout == kNever;
      case WaitClass::kPoll:
      case WaitClass::kNetwork:
        return result > 0;
      default:
        return result >= 0;
    }
  }

  WaitClass wait_class;
  Nanoseconds timeout;
  Nanoseconds deadline;
  bool tells_ends = false;
};

// Lives as long as a wait that is a target (--waits).
class FollowedWait {
 public:
  FollowedWait(ThreadDelays& delays, WaitClass wait_class, const AwaitedLock* lock = nullptr,
               Nanoseconds deadline = WaitCharges::kNoDeadline) noexcept
      : delays_(delays), wait_(Runtime::enter_wait(delays, wait_class, lock, deadline)) {}
  ~FollowedWait() { Runtime::leave_wait(delays_, wait_); }
  FollowedWait(const FollowedWait&) = delete;
  FollowedWait& operator=(const FollowedWait&) = delete;

 private:
  ThreadDelays& delays_;
  Waits::Wait wait_;
};

// Waits for something outside by `rule(delays, call, released_by)`.
template <typename Rule, typename Call, typename Released, typename IsInterrupted>
COZ_WRAPPER_PART auto wait_outside_by(Rule rule, OutsideWait outside, Call call, Released released,
                                      IsInterrupted is_interrupted) {
  auto delays = Session::current_delays();
  if (!delays) return call();
  const KernelCall kernel_call;
  const auto released_by = [&](long result) {
    if (!outside.was_served(result)) delays->leave_outside_queue();
    const std::uintptr_t signal =
        signal_that_ended(*delays, is_interrupted(result), outside.may_read());
    if (signal != kNoObject || (result <= 0 && !outside.tells_ends)) return signal;
    return released(static_cast<const ThreadDelays&>(*delays), result);
  };
  if (!delays->follows_waits()) return rule(*delays, call, released_by);
  const auto followed = [&] {
    const FollowedWait wait(*delays, outside.wait_class, nullptr, outside.ends());
    return call();
  };
  return rule(*delays, followed, released_by);
}

// A wait for something outside: no credit, unless a signal of another thread ended it, or the
// release of what `released(delays, result)` returns, if that is not kNoObject.
template <typename Call, typename Released, typename IsInterrupted>
COZ_WRAPPER_PART auto wait_outside(OutsideWait outside, Call call, Released released,
                                   IsInterrupted is_interrupted) {
  const auto rule = [](ThreadDelays& delays, auto wait, auto released_by) {
    return rules::wait_for_outside(delays, wait, released_by);
  };
  return wait_outside_by(rule, outside, call, released, is_interrupted);
}
template <typename Call, typename Released>
COZ_WRAPPER_PART auto wait_outside(OutsideWait outside, Call call, Released released) {
  return wait_outside(outside, call, released, [](long result) { return is_interrupted(result); });
}
template <typename Call>
COZ_WRAPPER_PART auto wait_outside(OutsideWait outside, Call call) {
  return wait_outside(outside, call, [](const ThreadDelays&, long) { return kNoObject; });
}

// The same for a call that returns 0 after `outside.timeout`. `again(left)` then waits for so long.
template <typename Call, typename Again, typename Released>
COZ_WRAPPER_PART int wait_outside_until(OutsideWait outside, Call call, Again again,
                                        Released released) {
  const auto rule = [=](ThreadDelays& delays, auto wait, auto released_by) {
    return rules::wait_for_outside_until(
        delays, wait, [](int result) { return result == 0; }, outside.timeout, again, released_by);
  };
  return wait_outside_by(rule, outside, call, released,
                         [](long result) { return is_interrupted(result); });
}

}  // namespace coz

#endif  // LIBCOZ_INTERPOSE_BLOCKING_H
