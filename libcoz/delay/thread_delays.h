// The rules of blocking and waking (method: dissertation §5.2.5.4, with credit taken from the
// waker), applied to one thread's state.
//
// Called by the thread that owns the state, from wrappers (interpose/) and marks; `sampled` also
// from its signal handler. Nothing allocates or locks; errno is kept.
//
//   before waking another   drain what is deferred, pay until settled, record what was served
//   before taking a lock    the same
//   before blocking         drain and publish; remember where we stood
//   after blocking          woken by a thread of the program: take the waker's delays as served;
//                           by anything else (I/O, a time-out, a stranger): pay everything, less
//                           what passed while a mutex was waited for after that
//
// Which calls do which is in rules.h. A call may come from a signal handler of the program's that
// interrupts another (sem_post is allowed there): it is then recorded, and changes nothing else.
//
// Each call ends a code segment and begins the next (charge_smoother.h); `site` tells them apart.
#ifndef LIBCOZ_DELAY_THREAD_DELAYS_H
#define LIBCOZ_DELAY_THREAD_DELAYS_H

#include <algorithm>
#include <cstdint>
#include <optional>

#include "delay/delay_ledger.h"
#include "delay/pending_charges.h"
#include "delay/waker_table.h"
#include "load/amplification.h"
#include "target/selection.h"
#include "thread/thread_state.h"

namespace coz {

// What the rules work on, and how they sleep: replaced in tests by a simulated clock.
struct DelayEnvironment {
  GlobalDelay& global;
  WakerTable& wakers;
  PendingCharges& pending;
  const SelectionCell& selection;
  Nanoseconds period;
  Nanoseconds (*now)() noexcept;
  Nanoseconds (*sleep_until)(Nanoseconds deadline) noexcept;
  Nanoseconds max_saved_wait;
};

enum class WakeSource {
  kThread,    // a thread of the program: credit
  kExternal,  // I/O, a time-out, another process: no credit
  kNone,      // the call did not block
};

// No object: nobody can have released it.
inline constexpr std::uintptr_t kNoObject = 0;

// Of a release: is its time noted? Where a thread may wait for two, as for a condition and its
// mutex, the times say which came last; elsewhere the clock need not be read.
enum class ReleaseTime { kUnimportant, kNoted };

class ThreadDelays {
 public:
  // Both must outlive it. As cheap as two pointers: wrappers make one for each call.
  // `site`: the address to which the program's call returns.
  ThreadDelays(ThreadState& thread, const DelayEnvironment& environment,
               std::uintptr_t site = 0) noexcept
      : thread_(thread), environment_(environment), site_(site) {}
  ThreadDelays(ThreadState& thread, DelayEnvironment&& temporary, std::uintptr_t site = 0) = delete;

  // For a thread whose delays outlive a call: the next one comes from `site`.
  void called_from(std::uintptr_t site) noexcept { site_ = site; }

  // A sample in `target`, or in none (kNoTarget). In a signal handler.
  void sampled(std::uint32_t target) noexcept;

  // Pays what the thread owes: before it takes what another may hold, so that it need not do so
  // with others waiting, and before it wakes another.
  void settle() noexcept {
    if (!is_settled()) settle_in_turn();
  }

  // Puts on record what the thread has served, for those whom it wakes by releasing `object`. It
  // has settled just before.
  void record(std::uintptr_t object, ReleaseTime time = ReleaseTime::kUnimportant) noexcept {
    const Nanoseconds local = thread_.clock.local();
    if (time == ReleaseTime::kNoted) {
      environment_.wakers.record(object, {local, thread_.slot, environment_.now()});
    } else {
      environment_.wakers.record_without_time(object, local, thread_.slot);
    }
  }

  // The thread may wake another by releasing `object`.
  void before_waking(std::uintptr_t object) noexcept {
    settle();
    record(object);
    go_on();
  }

  // A call that did not block is over: another code segment begins. The other functions do it
  // themselves.
  void go_on() noexcept {
    if (thread_.busy.load(std::memory_order_relaxed) ||
        thread_.blocked.load(std::memory_order_relaxed)) {
      return;
    }
    thread_.smoother.begin(site_);
    if (!thread_.smoother.is_idle()) resume();
  }

  // False in a signal handler that has interrupted another call: don't call after_blocking then.
  bool before_blocking() noexcept;
  // `object`: what the waker has released, if a thread woke this one.
  void after_blocking(WakeSource wake_source, std::uintptr_t object) noexcept;
  // The same for a thread that was signalled, and then waited for `mutex`, perhaps.
  void after_condition(std::uintptr_t condition, std::uintptr_t mutex) noexcept;
  // In the midst of a wait for a condition: nobody signalled, and the clock ended it at
  // `timed_out`, after it was prolonged by `prolonged` for the thread to pay. Until when it is to
  // be prolonged now, and by how much; if by nothing, after_blocking() follows.
  struct Prolongation {
    Nanoseconds by;
    Nanoseconds until;
  };
  Prolongation prolong_wait(Nanoseconds timed_out, Nanoseconds prolonged,
                            std::uintptr_t mutex) noexcept;

  // Makes what the thread was charged known to the others, without pausing.
  void publish() noexcept;

  // A request arrives at an arrival point: charges it, without pausing. `ran`: the calling
  // thread's processor time.
  void arrived(Amplification& amplification, Nanoseconds ran) noexcept;

  // Serves all that is due.
  void catch_up() noexcept;

  // The thread ends, and may be waited for as `object`: it is charged all that its samples stand
  // for.
  void before_ending(std::uintptr_t object) noexcept;

  // Effective time of the thread now.
  Nanoseconds effective_now() const noexcept;

 private:
  class Turn;  // keeps the signal handler out

  // Nothing to charge or to pay: looked at without taking a turn, since every unlock comes here. A
  // sample in between changes no more than one just after would.
  bool is_settled() const noexcept {
    return !thread_.busy.load(std::memory_order_relaxed) &&
           !thread_.blocked.load(std::memory_order_relaxed) &&
           thread_.deferred.load(std::memory_order_relaxed) == 0 && thread_.smoother.is_idle() &&
           thread_.clock.local() >= global_now();
  }
  // G, with what has accrued to threads that run the line.
  Nanoseconds global_now() const noexcept {
    const Nanoseconds global = environment_.global.get();
    return environment_.pending.is_empty() ? global : std::max(global, max_pending());
  }
  Nanoseconds max_pending() const noexcept;
  std::optional<WakerTable::Waker> find_other(std::uintptr_t object) const noexcept;
  void credit(const ThreadClock::Blocked& wait, std::optional<Nanoseconds> served) noexcept;
  void end_wait(bool pays) noexcept;
  void settle_in_turn() noexcept;
  void resume() noexcept;
  void resume_in_turn() noexcept;
  bool is_interrupting() const noexcept;
  void drain() noexcept;
  void drain_deferred() noexcept;
  void discharge() noexcept;
  void pay_until_settled() noexcept;

  ThreadState& thread_;
  const DelayEnvironment& environment_;
  std::uintptr_t site_;
};

}  // namespace coz

#endif  // LIBCOZ_DELAY_THREAD_DELAYS_H
