// Which kind of call does what about delays: the table of docs/blocking_calls.md as code.
//
// Each rule takes the delays of the calling thread and the real call as a function; results are the
// real call's. The wrappers of libc (interpose/) and the model in tests/oracle both go through
// here, so that a rule is tried in the model before it meets a program.
//
// `wake_source_of` says what a result means: WakeSource::kThread when another thread of the program
// made the call return, kExternal when the clock or the world outside did, kNone when it did not
// block. It runs right after the call, so that errno is still the call's; nothing here changes
// errno.
#ifndef LIBCOZ_DELAY_RULES_H
#define LIBCOZ_DELAY_RULES_H

#include <cstdint>

#include "delay/thread_delays.h"

namespace coz::rules {

// Waiting until another thread of the program does something to the object.
template <typename Call, typename WakeSourceOf>
auto wait(ThreadDelays& delays, std::uintptr_t object, Call call, WakeSourceOf wake_source_of) {
  const bool accounted = delays.before_blocking();
  const auto result = call();
  if (accounted) delays.after_blocking(wake_source_of(result), object);
  return result;
}

// Taking something that another thread may hold: a lock, a unit of a semaphore, the end of a
// thread. `attempt` takes it without blocking; unless `is_busy` says of its result that another has
// it, that is the result, and nobody was waited for. What the thread owes it pays before it tries,
// since a pause with the lock held holds all others up.
template <typename Attempt, typename IsBusy, typename Call, typename WakeSourceOf>
auto acquire(ThreadDelays& delays, std::uintptr_t object, Attempt attempt, IsBusy is_busy,
             Call call, WakeSourceOf wake_source_of) {
  delays.settle();
  const auto tried = attempt();
  if (is_busy(tried)) return wait(delays, object, call, wake_source_of);
  delays.go_on();
  return tried;
}

// The same for what is waited for by spinning: no waker's credit is needed, since who spins can pay
// as it does. It does so at every attempt, so that it owes nothing once it goes on.
template <typename Attempt, typename IsBusy, typename Relax>
auto spin(ThreadDelays& delays, Attempt attempt, IsBusy is_busy, Relax relax) {
  for (;;) {
    delays.settle();
    const auto tried = attempt();
    if (!is_busy(tried)) {
      delays.go_on();
      return tried;
    }
    relax();
  }
}

// Releasing or signalling: what this thread owes must be paid before another goes on.
template <typename Call>
auto release(ThreadDelays& delays, std::uintptr_t object, Call call) {
  delays.before_waking(object);
  return call();
}

// Giving back a mutex. `is_waited_for`: may another thread be waiting in the call that takes it?
// Asked once everything is paid, since others come while this thread pauses. Who waits for a
// condition takes its mutex in the end, and then it matters which of the two came last.
template <typename IsWaitedFor, typename Call>
auto release_mutex(ThreadDelays& delays, std::uintptr_t mutex, IsWaitedFor is_waited_for,
                   Call call) {
  delays.settle();
  delays.record(mutex, is_waited_for() ? ReleaseTime::kNoted : ReleaseTime::kUnimportant);
  delays.go_on();
  return call();
}

// Signalling a condition, to one or to all: those who wait for it go on when they have its mutex.
template <typename Call>
auto signal_condition(ThreadDelays& delays, std::uintptr_t condition, Call call) {
  delays.settle();
  delays.record(condition, ReleaseTime::kNoted);
  delays.go_on();
  return call();
}

struct Condition {
  std::uintptr_t condition;
  std::uintptr_t mutex;
};

// Waiting for a condition releases its mutex, and returning takes it again: both may be what the
// thread waited for. `call` takes by how much later than asked for it is to time out, and
// `timed_out` says when it was to, should it have done so (kExternal).
template <typename IsWaitedFor, typename Call, typename WakeSourceOf, typename TimedOut>
auto wait_for_condition(ThreadDelays& delays, Condition waits, IsWaitedFor is_waited_for, Call call,
                        WakeSourceOf wake_source_of, TimedOut timed_out) {
  delays.settle();
  delays.record(waits.mutex, is_waited_for() ? ReleaseTime::kNoted : ReleaseTime::kUnimportant);
  const bool accounted = delays.before_blocking();
  auto result = call(Nanoseconds{0});
  if (!accounted) return result;
  WakeSource wake_source = wake_source_of(result);
  if (wake_source == WakeSource::kExternal) {
    const Nanoseconds deadline = timed_out();
    ThreadDelays::Prolongation longer{0, deadline};
    do {
      longer = delays.prolong_wait(longer.until, longer.by, waits.mutex);
      if (longer.by == 0) break;
      result = call(longer.until - deadline);
      wake_source = wake_source_of(result);
    } while (wake_source == WakeSource::kExternal);
  }
  if (wake_source == WakeSource::kThread) {
    delays.after_condition(waits.condition, waits.mutex);
  } else {
    delays.after_blocking(wake_source, kNoObject);
  }
  return result;
}

// Meeting at a barrier: whoever comes may be the one for whom the others wait.
template <typename Call, typename WakeSourceOf>
auto meet(ThreadDelays& delays, std::uintptr_t barrier, Call call, WakeSourceOf wake_source_of) {
  delays.settle();
  delays.record(barrier);
  return wait(delays, barrier, call, wake_source_of);
}

// Waiting for the clock, a file, a socket, another process: time that no line of the program could
// make shorter, so nothing is credited.
template <typename Call>
auto wait_for_outside(ThreadDelays& delays, Call call) {
  return wait(delays, kNoObject, call, [](const auto&) { return WakeSource::kExternal; });
}

}  // namespace coz::rules

#endif  // LIBCOZ_DELAY_RULES_H
