// The rules of blocking and waking, applied to one thread's state (dissertation §5.2.5.4; credit is
// taken from the thread that woke this one).
//
// Only the thread that owns the state calls these functions, from wrappers (interpose/) and macros;
// `sampled` runs in its signal handler. Nothing allocates or locks; errno is kept.
//
//   before waking another   apply deferred charges, pay until settled, record what was served
//   before taking a lock    the same; who holds a lock that is a target pays later (wait_charges.h)
//   before blocking         apply deferred charges, remember the clock
//   after blocking          woken by a thread of the program: credit what it served, pay the rest;
//                           woken by anything external (I/O, a time-out): pay all that is owed.
//                           After a time-out, waiting for the mutex still earns credit
//                           (prolong_wait)
//
// call_rules.h says which call does what. A call may also come from a signal handler of the program
// that interrupted another call, as sem_post may: then it is recorded, and changes nothing else.
//
// Each call ends a code segment and begins the next (charge_smoother.h); `site` identifies it.
#ifndef LIBCOZ_DELAY_THREAD_DELAYS_H
#define LIBCOZ_DELAY_THREAD_DELAYS_H

#include <algorithm>
#include <cstdint>
#include <optional>

#include "delay/charge_mixes.h"
#include "delay/delay_ledger.h"
#include "delay/delay_state.h"
#include "delay/outside_queues.h"
#include "delay/pending_charges.h"
#include "delay/wait_charges.h"
#include "delay/waker_table.h"
#include "delay/young_charges.h"
#include "target/lock_holds.h"
#include "target/selection.h"

namespace coz {

// What the rules work on, and how they sleep. Tests replace the clock by a simulated one.
struct DelayEnvironment {
  GlobalDelay& global;
  WakerTable& wakers;
  PendingCharges& pending;
  YoungCharges& young;
  const SelectionCell& selection;
  Nanoseconds period;
  Nanoseconds (*now)() noexcept;
  Nanoseconds (*sleep_until)(Nanoseconds deadline) noexcept;
  Nanoseconds max_saved_wait;
  Nanoseconds (*processor_time)() noexcept = own_processor_time;
  const ChargeMixes* mixes = nullptr;  // where several targets may be selected
  WaitCharges* waits = nullptr;        // where waits are targets
  LockHolds* lock_holds = nullptr;     // likewise
  OutsideQueues* outside = nullptr;    // nullptr: what is outside is not held up
  // Lets the calling thread's own timer run, or stops it (DelayState::has_timer).
  void (*run_timer)(bool runs) noexcept = nullptr;
  // Is the calling thread in a signal handler? nullptr: whoever may be, is.
  bool (*is_in_signal_handler)() noexcept = nullptr;
  bool pauses_busily = false;              // `sleep_until` takes processor time
  bool (*has_ended)() noexcept = nullptr;  // is profiling over, so that nobody owes anything?
};

// What ended a wait.
enum class WakeSource {
  kThread,    // a thread of the program: credit
  kExternal,  // I/O, a time-out, an unprofiled process: no credit
  kNone,      // the call did not block
};

// Who marks a wait. Other calls that the program makes directly inside one of its own end it; those
// of a library deep below, and all inside one of OpenMP's, change nothing.
enum class MarkedWait { kOfProgram, kOfOpenMp };

// What a call waits for.
enum class WaitsFor {
  kLock,   // a lock, a barrier, the end of a thread: whatever is none of the following
  kQueue,  // a condition, a semaphore, a futex, a stream: threads pass work to each other by these
  kOutside,  // something outside, which may serve other threads first
};

// Whether a thread has a lock alone, or with others.
enum class LockUse { kAlone, kShared };

// Not an object: no thread can have released it.
inline constexpr std::uintptr_t kNoObject = 0;

// Set in an object's name: processes that are not profiled may release it, too. Without a record,
// one of them has.
inline constexpr std::uintptr_t kOfOthersToo = 1;

// A name that is no address, made of numbers.
constexpr std::uintptr_t made_name(std::uintptr_t number) noexcept {
  return number & ~kOfOthersToo;
}

// Whether a release records its time. Where a thread may wait for two releases, as for a condition
// and its mutex, the times show which came last. Elsewhere the clock need not be read.
enum class ReleaseTime { kUnimportant, kNoted };

class ThreadDelays {
 public:
  // Both arguments must outlive it. Wrappers make one for each call. `site` is the address to which
  // the program's call returns.
  ThreadDelays(DelayState& state, const DelayEnvironment& environment,
               std::uintptr_t site = 0) noexcept
      : state_(state), environment_(environment), site_(site) {}
  ThreadDelays(DelayState& state, DelayEnvironment&& temporary, std::uintptr_t site = 0) = delete;

  // The next call comes from `site`; for objects that outlive one call.
  void called_from(std::uintptr_t site) noexcept { site_ = site; }

  // The thread is new, and has no samples yet. `inherited`: the delays that its parent had served.
  // `kind`: the same for threads that do the same.
  void begin(Nanoseconds inherited, std::uintptr_t kind) noexcept;

  // A sample in `target`, or in none (kNoTarget). In the signal handler.
  void sampled(std::uint32_t target) noexcept;

  // Pays all that the thread owes: before it takes a lock, so that it does not pause with others
  // waiting for it, and before it wakes another thread. Where waits for a lock are charged, threads
  // owe a little at every call: a baseline, in which nobody does, must not be faster for that. It
  // is inlined, like begin_segment(), since each lock and unlock comes here.
  [[gnu::always_inline]] void settle() noexcept {
    if (has_charges()) return settle_exclusively();
    const Nanoseconds global = global_now();
    if (global > state_.clock.local()) settle_debt(global);
  }

  // Whether settle() may pause.
  bool may_pause() const noexcept {
    return has_charges() || global_now() > state_.clock.local() + kMinPause;
  }

  // Records what the thread, which has settled, has served, for those whom it wakes by `object`.
  void record(std::uintptr_t object, ReleaseTime time = ReleaseTime::kUnimportant) noexcept {
    const Nanoseconds local = state_.clock.local();
    const bool owes = follows_waits() && lock_waits() == WaitCharges::LockWaits::kForThis;
    if (time == ReleaseTime::kNoted) {
      environment_.wakers.record(object, {local, state_.slot, environment_.now(), owes});
    } else {
      environment_.wakers.record_without_time(object, local, state_.slot, owes);
    }
  }

  // The thread may wake another by releasing `object`.
  void before_waking(std::uintptr_t object, ReleaseTime time = ReleaseTime::kUnimportant) noexcept {
    settle();
    record(object, time);
    begin_segment();
  }

  // Whether another thread has released `object`, as far as that is known.
  bool was_released(std::uintptr_t object) const noexcept { return find_other(object).has_value(); }
  // The same since this thread blocked, of objects whose releases are noted with their time.
  bool was_released_meanwhile(std::uintptr_t object) const noexcept {
    const auto waker = find_other(object);
    return waker && waker->at >= state_.blocked_at.since;
  }
  // The same where a handler in this thread may have released it last.
  bool was_released_by_any(std::uintptr_t object) const noexcept {
    const auto waker = environment_.wakers.find(object);
    return waker && waker->at >= state_.blocked_at.since;
  }

  // Around pauses and calls that may wait: the thread's own timer, if it has one, does not run.
  void hold_timer() noexcept {
    if (!state_.has_timer || state_.timer_held.load(std::memory_order_relaxed)) return;
    state_.timer_held.store(true, std::memory_order_relaxed);
    environment_.run_timer(false);
  }
  void release_timer() noexcept {
    if (!state_.timer_held.load(std::memory_order_relaxed)) return;
    state_.timer_held.store(false, std::memory_order_relaxed);
    if (state_.has_timer) environment_.run_timer(true);
  }

  void count_release() noexcept {
    state_.releases.store(state_.releases.load(std::memory_order_relaxed) + 1,
                          std::memory_order_relaxed);
  }

  // After a call that did not block; after_blocking() and the like begin a segment themselves.
  [[gnu::always_inline]] void begin_segment() noexcept {
    if (state_.busy.load(std::memory_order_relaxed) ||
        state_.blocked.load(std::memory_order_relaxed)) {
      return;
    }
    if (state_.smoother.begin_segment(site_)) resume_segment();
  }

  // The thread has settled, having served `local`, yielded its processor, and got it back after
  // `lasted`: long where another thread runs on its core. Does not end a code segment: a loop may
  // call it a thousand times in one wait.
  void after_yielding(Nanoseconds local, Nanoseconds lasted) noexcept;

  // False in a signal handler that interrupted another call: do not call after_blocking() then.
  bool before_blocking(WaitsFor waits_for = WaitsFor::kLock) noexcept;
  // The same for a wait that the program marks: its samples are in no target.
  void before_marked_wait(MarkedWait kind = MarkedWait::kOfProgram) noexcept {
    if (!before_blocking()) return;
    if (kind == MarkedWait::kOfOpenMp) state_.blocked_frame = UINTPTR_MAX;
    state_.in_marked_wait.store(true, std::memory_order_relaxed);
  }
  bool is_in_marked_wait() const noexcept {
    return state_.blocked.load(std::memory_order_relaxed) &&
           state_.in_marked_wait.load(std::memory_order_relaxed);
  }
  // By how much to postpone `deadline`, if a schedule of the thread's has it (clock_schedule.h).
  Nanoseconds behind_schedule(Nanoseconds deadline) noexcept;
  // Before after_blocking(), where a time-out or a signal ended the wait, not what is outside.
  void leave_outside_queue() noexcept {
    if (state_.outside.place != 0) end_outside_wait(WakeSource::kNone);
  }
  // `object` is what the waker released, if a thread woke this one.
  void after_blocking(WakeSource wake_source, std::uintptr_t object) noexcept;
  // After a wait for a condition that was signalled: the thread may have waited for `mutex`, too.
  void after_condition(std::uintptr_t condition, std::uintptr_t mutex,
                       std::uintptr_t role = 0) noexcept;
  // A wait timed out at `timed_out`; it had already been prolonged by `prolonged`, to pay delay
  // without the mutex (kNoObject: there is none). Returns by how much to prolong it now, and when
  // it then times out. If by nothing, after_blocking() follows.
  struct Prolongation {
    Nanoseconds by;
    Nanoseconds until;
  };
  Prolongation prolong_wait(Nanoseconds timed_out, Nanoseconds prolonged,
                            std::uintptr_t mutex) noexcept;

  // Applies the thread's charges, and then charges it `amount(effective time)`, without pausing.
  // Returns false, and charges nothing, in a signal handler that interrupted another call; what
  // defer_charge() is given then takes effect when that call ends.
  template <typename Amount>
  bool charge_now(Amount amount) noexcept {
    if (is_interrupting()) return false;
    const Exclusive exclusive(state_);
    apply_charges();
    const Nanoseconds charge = amount(environment_.now() - state_.clock.local());
    if (charge > 0) state_.clock.charge(charge, environment_.global);
    resume_segment_exclusively();
    return true;
  }
  void defer_charge(Nanoseconds charge) noexcept {
    state_.deferred.fetch_add(charge, std::memory_order_relaxed);
  }

  // Pays all that the thread owes, and goes on in the same code segment. settle() leaves the
  // segment to what follows it: begin_segment(), or before_blocking() and then after_blocking().
  // Both end a wait that the program marks, as what they pay would be credited after it.
  void catch_up() noexcept;

  // Between before_blocking() and after_blocking(), where waits are targets: the thread begins to
  // wait in `target`, for `lock` if it is one, until `deadline` at the latest.
  struct TargetWait {
    Nanoseconds ran = 0;  // processor time when it began; waits for locks use none
    bool is_followed = false;
    bool is_for_lock = false;
  };
  bool follows_waits() const noexcept { return environment_.waits != nullptr; }
  bool pauses_busily() const noexcept { return environment_.pauses_busily; }
  TargetWait enter_wait(std::uint32_t target, const AwaitedLock* lock = nullptr,
                        Nanoseconds deadline = WaitCharges::kNoDeadline) noexcept;
  // The wait is over. Returns how long it was, without what has been claimed
  // (WaitCharges::claim()) and without processor time. after_blocking() charges it.
  Nanoseconds leave_wait(const TargetWait& wait) noexcept;

  // The thread has taken `lock`: those who wait for it now wait for this thread.
  void took(std::uintptr_t lock, LockUse use = LockUse::kAlone) noexcept {
    if (!follows_waits()) return;
    environment_.lock_holds->set(lock, site_);
    if (use == LockUse::kShared) {
      state_.shared_lock = lock;
    } else if (!environment_.waits->is_empty()) {
      environment_.waits->took(lock, state_.holder);
    }
  }

  // It is about to release it.
  void releases(std::uintptr_t lock) noexcept {
    if (!follows_waits()) return;
    environment_.lock_holds->remove(lock);  // the next may take it without a record
    if (state_.shared_lock == lock) state_.shared_lock = WaitCharges::kNoLock;
  }
  // It has released it, and pays what it put off for those who wait.
  void pay_after_release(std::uintptr_t lock) noexcept {
    if (!follows_waits()) return;
    if (!environment_.waits->is_empty()) environment_.waits->released(lock, state_.holder);
    settle();
  }

  // The address to which the program's call returns.
  std::uintptr_t site() const noexcept { return site_; }

  // The address to which the call returned that took `lock`; 0 if that is not known. Only where
  // waits are targets.
  std::uintptr_t taken_at(std::uintptr_t lock) const noexcept {
    return environment_.lock_holds->get(lock).value_or(0);
  }
  // The effective time of threads that owe nothing.
  Nanoseconds settled_now() const noexcept {
    return environment_.now() - environment_.global.get();
  }

  // The thread ends, and others may wait for it as `object`. It is charged all that its samples
  // stand for.
  void before_ending(std::uintptr_t object) noexcept;

  // What the thread has served.
  Nanoseconds local() const noexcept { return state_.clock.local(); }

  // Real time, and the thread's effective time.
  Nanoseconds now() const noexcept { return environment_.now(); }
  Nanoseconds effective_now() const noexcept;

 private:
  // While it lives, the signal handler leaves the state alone.
  class Exclusive {
   public:
    explicit Exclusive(DelayState& state) noexcept
        : state_(state), was_busy_(state.busy.load(std::memory_order_relaxed)) {
      if (!was_busy_) {
        state_.busy_frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
      }
      state_.busy.store(true, std::memory_order_relaxed);
      std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    ~Exclusive() {
      std::atomic_signal_fence(std::memory_order_seq_cst);
      state_.busy.store(was_busy_, std::memory_order_relaxed);
    }
    Exclusive(const Exclusive&) = delete;
    Exclusive& operator=(const Exclusive&) = delete;

   private:
    DelayState& state_;
    bool was_busy_;
  };

  // Whether there is anything to charge. Checked without excluding the handler, since every unlock
  // comes here; a sample during the check is then handled as if it came right after.
  bool has_charges() const noexcept {
    return state_.busy.load(std::memory_order_relaxed) ||
           state_.blocked.load(std::memory_order_relaxed) ||
           state_.deferred.load(std::memory_order_relaxed) != 0 || !state_.smoother.is_idle();
  }
  // G, with what has accrued to threads that run selected targets or wait in them.
  Nanoseconds global_now() const noexcept {
    const Nanoseconds global = environment_.global.get();
    const auto* waits = environment_.waits;
    if ((waits == nullptr || waits->is_empty()) && environment_.pending.is_empty()) return global;
    return std::max(global, max_pending());
  }
  Nanoseconds max_pending() const noexcept;
  std::optional<WakerTable::Waker> find_other(std::uintptr_t object) const noexcept;
  void credit(const ThreadClock::Blocked& wait, std::optional<Nanoseconds> served,
              bool owes) noexcept;
  void end_queue_wait(std::uintptr_t object, const std::optional<WakerTable::Waker>& waker,
                      std::uintptr_t role) noexcept;
  void end_wait(bool pays) noexcept;
  void end_outside_wait(WakeSource wake_source) noexcept;
  // It owes and has no charges. A debt too small for a pause is paid from what it overslept.
  void settle_debt(Nanoseconds global) noexcept;
  void settle_exclusively() noexcept;
  void resume_segment() noexcept;
  void resume_segment_exclusively() noexcept;
  bool is_interrupting() const noexcept;
  bool is_in_handler_above(std::uintptr_t left) const noexcept;
  void apply_charges() noexcept;
  void apply_deferred() noexcept;
  bool begin_discharge(const Selection& selection) noexcept;
  void charge(const ChargeSmoother::Charge& charge, const Selection& selection) noexcept;
  void discharge() noexcept;
  void discharge_meanwhile() noexcept;
  void discharge_all() noexcept;
  Nanoseconds expected_charge() const noexcept;
  void count_target_samples(std::uint64_t number) noexcept {
    state_.target_samples.store(state_.target_samples.load(std::memory_order_relaxed) + number,
                                std::memory_order_relaxed);
  }
  WaitCharges::Left leave(Nanoseconds ran) noexcept;
  void count_target_wait(Nanoseconds waited) noexcept;
  // nullptr outside of combined windows.
  ChargeMix* mixes() const noexcept {
    if (environment_.mixes == nullptr || !environment_.selection.has_companions()) return nullptr;
    return environment_.mixes->of(state_.slot);
  }
  void follow(const Selection& selection) noexcept;
  bool is_smoothed(const Selection& selection) const noexcept;
  void pay_until_settled(Nanoseconds expected = 0) noexcept;
  bool has_ended() const noexcept;
  WaitCharges::LockWaits lock_waits() const noexcept;
  void pause(Nanoseconds due) noexcept;

  DelayState& state_;
  const DelayEnvironment& environment_;
  std::uintptr_t site_;
};

}  // namespace coz

#endif  // LIBCOZ_DELAY_THREAD_DELAYS_H
