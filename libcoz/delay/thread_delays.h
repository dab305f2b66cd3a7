// The rules of blocking and waking (method: dissertation §5.2.5.4, with credit taken from the
// waker), applied to one thread's state.
//
// Called by the thread that owns the state, from wrappers (interpose/) and marks; `sampled` also
// from its signal handler. Nothing allocates or locks; errno is kept.
//
//   before waking another   drain what is deferred, pay until settled, record what was served
//   before taking a lock    pay, unless the last one had to be waited for
//   before blocking         drain and publish; remember where we stood
//   after blocking          woken by a thread of the program: take the waker's delays as served;
//                           by anything else (I/O, a time-out, a stranger): pay everything
//
// Which calls do which is in rules.h. A call may come from a signal handler of the program's that
// interrupts another (sem_post is allowed there): it is then recorded, and changes nothing else.
#ifndef LIBCOZ_DELAY_THREAD_DELAYS_H
#define LIBCOZ_DELAY_THREAD_DELAYS_H

#include <cstdint>
#include <initializer_list>

#include "delay/delay_ledger.h"
#include "delay/thread_state.h"
#include "delay/waker_table.h"

namespace coz {

// What the rules work on, and how they sleep: replaced in tests by a simulated clock.
struct DelayEnvironment {
  GlobalDelay& global;
  WakerTable& wakers;
  Nanoseconds (*now)() noexcept;
  Nanoseconds (*sleep_until)(Nanoseconds deadline) noexcept;
  Nanoseconds most_saved_wait;
};

enum class WokenBy {
  kThread,    // a thread of the program: credit
  kStranger,  // I/O, a time-out, another process: no credit
  kNobody,    // the call did not block
};

class ThreadDelays {
 public:
  // Both must outlive it. As cheap as two pointers: wrappers make one for each call.
  ThreadDelays(ThreadState& thread, const DelayEnvironment& environment) noexcept
      : thread_(thread), environment_(environment) {}
  ThreadDelays(ThreadState& thread, DelayEnvironment&& temporary) = delete;

  // A sample in the selected line (`delay` > 0) or elsewhere (0). In a signal handler.
  void sampled(Nanoseconds delay) noexcept;

  // The thread may wake another by releasing `object`.
  void before_waking(std::uintptr_t object) noexcept {
    if (!is_settled()) settle();
    environment_.wakers.record(object, {thread_.clock.local(), thread_.slot});
  }

  // The thread is about to take what another may hold: it pays what it owes, so that it need not do
  // so with others waiting. But if it had to wait the last time, it will probably wait again, and
  // what it owes may be credited.
  void before_taking() noexcept {
    if (!is_settled() && !thread_.last_take_waited) settle();
  }
  void tried_to_take(bool had_it_at_once) noexcept { thread_.last_take_waited = !had_it_at_once; }

  // False in a signal handler that has interrupted another call: don't call after_blocking then.
  bool before_blocking() noexcept;
  // `wakers`: the objects whose last release may have woken the thread. All of them came before
  // the thread went on, so the least of what they had served counts.
  void after_blocking(WokenBy woken_by, std::initializer_list<std::uintptr_t> wakers) noexcept;

  // Makes what the thread was charged known to the others, without pausing.
  void publish() noexcept;

  // Serves all that is due.
  void catch_up() noexcept;

  // Effective time of the thread now.
  Nanoseconds effective_now() const noexcept {
    return environment_.now() - thread_.clock.local() -
           thread_.deferred.load(std::memory_order_relaxed);
  }

 private:
  class Turn;  // keeps the signal handler out

  // Nothing to charge or to pay: looked at without taking a turn, since every unlock comes here. A
  // sample in between changes no more than one just after would.
  bool is_settled() const noexcept {
    return !thread_.busy.load(std::memory_order_relaxed) &&
           !thread_.blocked.load(std::memory_order_relaxed) &&
           thread_.deferred.load(std::memory_order_relaxed) == 0 &&
           thread_.clock.local() >= environment_.global.get();
  }
  void settle() noexcept;
  bool is_interrupting() const noexcept;
  void drain() noexcept;
  void pay_until_settled() noexcept;

  ThreadState& thread_;
  const DelayEnvironment& environment_;
};

}  // namespace coz

#endif  // LIBCOZ_DELAY_THREAD_DELAYS_H
