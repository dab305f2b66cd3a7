// Which kind of call does what about delays: the table of docs/blocking_calls.md as code.
//
// Each rule takes the delays of the calling thread and the real call as a function, and returns
// what the real call returns. Both the wrappers of libc (interpose/) and the model in tests/oracle
// use these rules, so that a rule is tried in the model before it meets a program.
//
// `wake_source_of` says what a result means: WakeSource::kThread if another thread of the program
// made the call return, kExternal if the clock or something else outside did, kNone if it did not
// block. It runs right after the call, so that errno is still the call's; nothing here changes
// errno.
#ifndef LIBCOZ_DELAY_CALL_RULES_H
#define LIBCOZ_DELAY_CALL_RULES_H

#include <algorithm>
#include <cstdint>

#include "delay/thread_delays.h"

namespace coz::rules {

// Waiting until another thread of the program does something to the object. Not inlined: most calls
// that may wait do not.
template <typename Call, typename WakeSourceOf>
[[gnu::noinline]] auto wait(ThreadDelays& delays, std::uintptr_t object, Call call,
                            WakeSourceOf wake_source_of, WaitsFor waits_for = WaitsFor::kLock) {
  const bool accounted = delays.before_blocking(waits_for);
  const auto result = call();
  if (accounted) delays.after_blocking(wake_source_of(result), object);
  return result;
}

// After a time-out at `deadline` the thread waits on for as long as it owes, as if that came later:
// in a pause it would not see what others do meanwhile. `again(later)` makes the call again, with
// its deadline so much later.
template <typename Result, typename HasTimedOut, typename Again>
void prolong(ThreadDelays& delays, Result& result, HasTimedOut has_timed_out, Nanoseconds deadline,
             std::uintptr_t mutex, Again again) {
  ThreadDelays::Prolongation longer{0, deadline};
  do {
    longer = delays.prolong_wait(longer.until, longer.by, mutex);
    if (longer.by == 0) return;
    result = again(longer.until - deadline);
  } while (has_timed_out(result));
}

// Waiting as above, for some time at most. `call` is told by how much to postpone its time-out.
// `deadline()`: of a call that has timed out.
template <typename Call, typename WakeSourceOf, typename HasTimedOut, typename DeadlineOf>
auto wait_until(ThreadDelays& delays, std::uintptr_t object, Call call, WakeSourceOf wake_source_of,
                HasTimedOut has_timed_out, DeadlineOf deadline, WaitsFor waits_for) {
  const bool accounted = delays.before_blocking(waits_for);
  auto result = call(Nanoseconds{0});
  if (!accounted) return result;
  if (has_timed_out(result)) prolong(delays, result, has_timed_out, deadline(), kNoObject, call);
  delays.after_blocking(wake_source_of(result), object);
  return result;
}

// Taking something that another thread may hold: a lock, a unit of a semaphore, the end of a
// thread. `attempt` takes it without blocking. Unless `is_busy` says of its result that another
// thread has it, that is the result, and there was no wait; otherwise `wait_for_it` waits. The
// thread pays what it owes before it tries, since a pause with the lock held would hold up all
// others.
template <typename Attempt, typename IsBusy, typename Wait>
auto take_or_wait(ThreadDelays& delays, Attempt attempt, IsBusy is_busy, Wait wait_for_it) {
  delays.settle();
  const auto tried = attempt();
  if (is_busy(tried)) return wait_for_it();
  delays.begin_segment();
  return tried;
}

// Pays what the thread owes before a wait with a deadline. Returns by how much to postpone that:
// the program most likely reckoned it from a time before.
inline Nanoseconds settle_before_deadline(ThreadDelays& delays) noexcept {
  if (!delays.may_pause()) {
    delays.settle();
    return 0;
  }
  const Nanoseconds begin = delays.now();
  delays.settle();
  const Nanoseconds paused = delays.now() - begin;
  return paused > kMinPause ? paused : 0;
}

// `object`: its name, or what becomes one where it is needed.
template <typename Object, typename Attempt, typename IsBusy, typename Call, typename WakeSourceOf>
auto acquire(ThreadDelays& delays, Object object, Attempt attempt, IsBusy is_busy, Call call,
             WakeSourceOf wake_source_of, WaitsFor waits_for = WaitsFor::kLock) {
  return take_or_wait(delays, attempt, is_busy,
                      [&] { return wait(delays, object, call, wake_source_of, waits_for); });
}

// The same for some time at most: see wait_until().
template <typename Attempt, typename IsBusy, typename Call, typename WakeSourceOf,
          typename HasTimedOut, typename DeadlineOf>
auto acquire_until(ThreadDelays& delays, std::uintptr_t object, Attempt attempt, IsBusy is_busy,
                   Call call, WakeSourceOf wake_source_of, HasTimedOut has_timed_out,
                   DeadlineOf deadline, WaitsFor waits_for) {
  const Nanoseconds paused = settle_before_deadline(delays);
  return take_or_wait(delays, attempt, is_busy, [&] {
    return wait_until(
        delays, object, [&](Nanoseconds later) { return call(paused + later); }, wake_source_of,
        has_timed_out, [&] { return deadline() + paused; }, waits_for);
  });
}

// The same for a lock, where waits for locks are targets. `call` enters the wait and leaves it.
// Before the thread pays for it, others that wait must know that it holds the lock now.
template <typename Attempt, typename IsBusy, typename Call, typename WakeSourceOf>
auto acquire_followed(ThreadDelays& delays, std::uintptr_t lock, Attempt attempt, IsBusy is_busy,
                      Call call, WakeSourceOf wake_source_of, LockUse use = LockUse::kAlone) {
  const auto and_hold = [&](auto take) {
    return [&, take] {
      const auto result = take();
      if (!is_busy(result) && wake_source_of(result) == WakeSource::kThread) delays.took(lock, use);
      return result;
    };
  };
  return acquire(delays, lock, and_hold(attempt), is_busy, and_hold(call), wake_source_of);
}

// `object`: that another thread has released to end the wait, or kNoObject.
inline void end_wait_by(ThreadDelays& delays, std::uintptr_t object) noexcept {
  const bool by_thread = object != kNoObject;
  delays.after_blocking(by_thread ? WakeSource::kThread : WakeSource::kExternal, object);
}

// Waiting for what is known only afterwards: `released_by(result)` names what another thread has
// released to end the wait, or is kNoObject, for no credit.
template <typename Call, typename ReleasedBy>
auto wait_released_by(ThreadDelays& delays, Call call, ReleasedBy released_by,
                      WaitsFor waits_for = WaitsFor::kLock) {
  const bool accounted = delays.before_blocking(waits_for);
  const auto result = call();
  if (accounted) end_wait_by(delays, released_by(result));
  return result;
}

// Waiting for whichever process ends: `object_of(result)` is what that one released at its end. It
// has not, where it was killed or is not profiled.
template <typename Attempt, typename IsBusy, typename Call, typename ObjectOf>
auto wait_for_end(ThreadDelays& delays, Attempt attempt, IsBusy is_busy, Call call,
                  ObjectOf object_of) {
  return take_or_wait(delays, attempt, is_busy, [&] {
    return wait_released_by(delays, call, [&](const auto& result) {
      const std::uintptr_t object = object_of(result);
      return delays.was_released(object) ? object : kNoObject;
    });
  });
}

// Trying to take it without ever waiting. What the thread owes comes first: meanwhile another may
// release it, which it would have done before, were the selected target faster.
template <typename Attempt, typename IsBusy>
auto try_to_take(ThreadDelays& delays, std::uintptr_t lock, Attempt attempt, IsBusy is_busy,
                 LockUse use = LockUse::kAlone) {
  delays.settle();
  const auto tried = attempt();
  if (!is_busy(tried)) {
    delays.took(lock, use);
    delays.begin_segment();
  }
  return tried;
}

// Taking a lock that is waited for by spinning. No credit is needed, since a thread can pay
// while it spins: it does so at every attempt, so that it owes nothing when it goes on.
template <typename Attempt, typename IsBusy, typename Relax>
auto spin(ThreadDelays& delays, Attempt attempt, IsBusy is_busy, Relax relax) {
  for (;;) {
    delays.settle();
    const auto tried = attempt();
    if (!is_busy(tried)) {
      delays.begin_segment();
      return tried;
    }
    relax();
  }
}

// Releasing or signalling: this thread must pay what it owes before another goes on.
template <typename Call>
auto release(ThreadDelays& delays, std::uintptr_t object, Call call) {
  delays.before_waking(object);
  delays.count_release();
  return call();
}

// Releasing a mutex. `is_waited_for` says whether another thread may be waiting for it; it is asked
// after everything is paid, since others come while this thread pauses. Only then is the release
// recorded: the record's cache line moves from core to core, which takes longer than many critical
// sections. A thread that waits for a condition takes its mutex in the end, and then it matters
// which of the two was released last. What need not precede the release follows it, and so does
// what the thread did not pay because others waited for it (WaitCharges). `mutex`: its name, or
// what becomes one where it is needed.
template <typename Mutex, typename IsWaitedFor, typename Call>
auto release_mutex(ThreadDelays& delays, Mutex mutex, IsWaitedFor is_waited_for, Call call) {
  delays.settle();
  if (is_waited_for()) delays.record(mutex, ReleaseTime::kNoted);
  std::uintptr_t followed = kNoObject;
  if (delays.follows_waits()) {
    followed = mutex;  // made now: another thread may free it as soon as it is released
    delays.releases(followed);
  }
  struct Afterwards {
    ThreadDelays& delays;
    std::uintptr_t followed;
    ~Afterwards() {
      if (followed != kNoObject) delays.pay_after_release(followed);
      delays.begin_segment();
      delays.count_release();
    }
  } const afterwards{delays, followed};
  return call();
}

// Releasing a lock of readers and writers. What the thread did not pay because others waited for it
// follows.
template <typename Call>
auto release_rwlock(ThreadDelays& delays, std::uintptr_t lock, Call call) {
  delays.settle();
  delays.record(lock);
  delays.releases(lock);
  const auto result = call();
  delays.pay_after_release(lock);
  delays.begin_segment();
  return result;
}

// Signalling a condition, to one thread or all: those who wait go on when they have its mutex.
template <typename Call>
auto signal_condition(ThreadDelays& delays, std::uintptr_t condition, Call call) {
  delays.settle();
  delays.record(condition, ReleaseTime::kNoted);
  delays.begin_segment();
  return call();
}

// `role`: of the wait (queue_waits.h).
struct Condition {
  std::uintptr_t condition;
  std::uintptr_t mutex;
  std::uintptr_t role = 0;
};

// Waiting for a condition releases its mutex, and returning takes it again: the thread may have
// waited for either. `call` is told by how much to postpone its time-out. `timed_out()`: the
// deadline; called only after a time-out (kExternal).
template <typename IsWaitedFor, typename Call, typename WakeSourceOf, typename TimedOut>
auto wait_for_condition(ThreadDelays& delays, Condition waits, IsWaitedFor is_waited_for, Call call,
                        WakeSourceOf wake_source_of, TimedOut timed_out) {
  const auto leave_mutex = [&] {
    if (is_waited_for()) delays.record(waits.mutex, ReleaseTime::kNoted);
    delays.releases(waits.mutex);
  };
  const Nanoseconds paused = settle_before_deadline(delays);
  leave_mutex();
  const bool accounted = delays.before_blocking(WaitsFor::kQueue);
  auto result = call(paused);
  delays.took(waits.mutex);
  if (!accounted) return result;
  WakeSource wake_source = WakeSource::kNone;
  const auto has_timed_out = [&](const auto& ended) {
    wake_source = wake_source_of(ended);
    return wake_source == WakeSource::kExternal;
  };
  if (has_timed_out(result)) {
    const Nanoseconds deadline = timed_out() + paused;
    prolong(delays, result, has_timed_out, deadline, waits.mutex, [&](Nanoseconds later) {
      leave_mutex();
      const auto again = call(paused + later);
      delays.took(waits.mutex);
      return again;
    });
  }
  if (wake_source == WakeSource::kThread) {
    delays.after_condition(waits.condition, waits.mutex, waits.role);
  } else {
    delays.after_blocking(wake_source, kNoObject);
  }
  return result;
}

// Meeting at a barrier: each thread that arrives may be the one that the others wait for.
template <typename Call, typename WakeSourceOf>
auto meet(ThreadDelays& delays, std::uintptr_t barrier, Call call, WakeSourceOf wake_source_of) {
  delays.settle();
  delays.record(barrier);
  return wait(delays, barrier, call, wake_source_of);
}

// Creating a thread. It begins with what its parent has served (`call` gets that), and what the
// parent still owed it would owe, too.
template <typename Call>
auto create(ThreadDelays& delays, Call call) {
  delays.settle();
  const auto result = call(delays.local());
  delays.begin_segment();
  return result;
}

// Taking data from a stream makes room in it. `is_ready` says whether the call need not wait; if it
// has to, nobody waits for room. `released_by`: as above.
template <typename IsReady, typename Call, typename ReleasedBy>
auto take_from_stream(ThreadDelays& delays, std::uintptr_t given, IsReady is_ready, Call call,
                      ReleasedBy released_by) {
  delays.settle();
  if (!is_ready()) return wait_released_by(delays, call, released_by, WaitsFor::kQueue);
  delays.before_waking(given, ReleaseTime::kNoted);
  return call();
}

// Putting data into it: the other side may go on as soon as there are some.
template <typename IsReady, typename Call, typename ReleasedBy>
auto put_into_stream(ThreadDelays& delays, std::uintptr_t given, IsReady is_ready, Call call,
                     ReleasedBy released_by) {
  delays.before_waking(given);
  if (is_ready()) return call();
  return wait_released_by(delays, call, released_by, WaitsFor::kQueue);
}

// Waiting for the clock, a file, a socket, another process: no line of the program could make that
// time shorter, except by asking earlier (outside_queue.h). So it earns no credit, unless another
// thread's signal or data ended it. Where the wait itself may be made shorter, a request comes when
// it would in effective time, so the thread pays first: another may be before it in a queue.
template <typename Call, typename ReleasedBy>
auto wait_for_outside(ThreadDelays& delays, Call call, ReleasedBy released_by) {
  if (delays.follows_waits()) delays.settle();
  return wait_released_by(delays, call, released_by, WaitsFor::kOutside);
}
template <typename Call>
auto wait_for_outside(ThreadDelays& delays, Call call) {
  return wait_for_outside(delays, call, [](const auto&) { return kNoObject; });
}

// The same for `timeout` at most, and then, as above, for as long as the thread owes. `again(left)`
// waits for so long.
template <typename Call, typename HasTimedOut, typename Again, typename ReleasedBy>
auto wait_for_outside_until(ThreadDelays& delays, Call call, HasTimedOut has_timed_out,
                            Nanoseconds timeout, Again again, ReleasedBy released_by) {
  if (delays.follows_waits()) delays.settle();
  const Nanoseconds deadline = delays.now() + timeout;
  const bool accounted = delays.before_blocking(WaitsFor::kOutside);
  auto result = call();
  if (!accounted) return result;
  if (has_timed_out(result)) {
    prolong(delays, result, has_timed_out, deadline, kNoObject, [&](Nanoseconds later) {
      return again(std::max<Nanoseconds>(deadline + later - delays.now(), 0));
    });
  }
  end_wait_by(delays, released_by(result));
  return result;
}

}  // namespace coz::rules

#endif  // LIBCOZ_DELAY_CALL_RULES_H
