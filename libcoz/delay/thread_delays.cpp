#include "delay/thread_delays.h"

#include <utility>

namespace coz {
namespace {

// In bytes. The kernel puts more than this (1 KB and up) on the stack before it calls a handler.
constexpr std::uintptr_t kMinSignalFrame = 512;
// Frames that are further apart lie on two stacks.
constexpr std::uintptr_t kSameStack = 1U << 20;

// What a thread pays at once, beyond what it owed at first, while others wait for a lock in the
// selected target, in periods: an unnoticed holder would owe more the longer it pays.
constexpr int kMaxPeriodsBesideLocks = 5;

// By how much the clock wakes a thread late: usually (by its timer slack, and the wake-up), and at
// most.
constexpr Nanoseconds kUsuallyOverslept = 100 * kMicrosecond;
constexpr Nanoseconds kMaxOverslept = kMillisecond;

std::uintptr_t frame() noexcept {
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
}

// Is this call so deep below that frame, or on another stack, that it may be a handler's?
bool is_far_below(std::uintptr_t above) noexcept {
  return frame() + kMinSignalFrame - above > kSameStack;
}

}  // namespace

void ThreadDelays::begin(Nanoseconds inherited, std::uintptr_t kind) noexcept {
  state_.kind = ChargeSmoother::young_bucket(kind);
  state_.clock.start_at(inherited, environment_.young.take_excess(state_.kind));
  if (mixes() != nullptr) return;
  state_.smoother.begin_young(environment_.young, kind);
  state_.smoothed_target = environment_.young.target();
  if (!state_.smoother.is_idle()) resume_segment();
}

void ThreadDelays::sampled(std::uint32_t target) noexcept {
  const Selection selection = environment_.selection.get();
  const auto delay = environment_.selection.delay_of(target, selection);
  if (delay && target == selection.target) count_target_samples(1);
  if (state_.busy.load(std::memory_order_relaxed) ||
      state_.blocked.load(std::memory_order_relaxed)) {
    if (delay) state_.deferred.fetch_add(*delay, std::memory_order_relaxed);
    return;
  }
  const Exclusive exclusive(state_);
  if (mixes() != nullptr) {
    follow(selection);
  } else if (delay && state_.smoothed_target != target) {
    state_.smoother.clear();
    state_.smoother.follow_main(target);
    state_.smoothed_target = target;
  }
  if (delay && state_.smoother.is_young()) environment_.young.select(target);
  // Also with a delay of 0: then a bucket is as full in a baseline as at a speedup.
  if (delay) {
    state_.smoother.sample(SelectedTarget{target, *delay}, environment_.period, environment_.now(),
                           mixes());
  } else {
    state_.smoother.sample(std::nullopt, environment_.period, 0);
  }
  discharge_meanwhile();
  pay_until_settled(expected_charge());
  resume_segment_exclusively();
}

bool ThreadDelays::is_interrupting() const noexcept {
  // A handler may have left the call by longjmp: then no signal frame lies below it on the stack.
  if (state_.busy.load(std::memory_order_relaxed)) {
    if (is_in_handler_above(state_.busy_frame)) return true;
    state_.busy.store(false, std::memory_order_relaxed);
    state_.pausing.store(false, std::memory_order_relaxed);
  }
  if (!state_.blocked.load(std::memory_order_relaxed)) return false;
  // In a marked wait, what is deep below is the library that waits.
  const bool is_marked = state_.in_marked_wait.load(std::memory_order_relaxed);
  if (is_marked && is_far_below(state_.blocked_frame)) return true;
  if (is_in_handler_above(state_.blocked_frame)) return true;
  state_.blocked.store(false, std::memory_order_relaxed);
  state_.in_marked_wait.store(false, std::memory_order_relaxed);
  if (environment_.waits != nullptr) environment_.waits->forget(state_.slot);
  return false;
}

// `left`: the frame of a call that has not returned. Deep below it there may be a handler, or what
// the program calls since it has left that call by a jump; only the stack tells.
bool ThreadDelays::is_in_handler_above(std::uintptr_t left) const noexcept {
  if (!is_far_below(left)) return false;
  return environment_.is_in_signal_handler == nullptr || environment_.is_in_signal_handler();
}

void ThreadDelays::settle_debt(Nanoseconds global) noexcept {
  if (global > state_.clock.local() + kMinPause) return settle_exclusively();
  if (state_.clock.excess() == 0) return;
  const Exclusive exclusive(state_);
  state_.clock.use_excess(global);
  environment_.global.raise_to(state_.clock.local());
}

void ThreadDelays::settle_exclusively() noexcept {
  if (is_interrupting()) return;
  const Exclusive exclusive(state_);
  apply_charges();
  pay_until_settled();
  // The pause does not count as time in the segment, which may be charged again before the call
  // blocks.
  if (!state_.smoother.is_idle()) state_.smoother.resume_segment(environment_.now());
}

bool ThreadDelays::before_blocking(WaitsFor waits_for) noexcept {
  if (is_interrupting()) return false;
  leave_outside_queue();  // the program may have left the last wait by a jump
  const Exclusive exclusive(state_);
  apply_charges();
  state_.blocked_at = state_.clock.block(environment_.now());
  state_.blocked_frame = frame();
  state_.lock_wait_charge = 0;
  state_.waits_outside = waits_for == WaitsFor::kOutside;
  if (waits_for == WaitsFor::kQueue ||
      (state_.waits_outside && state_.queue_waits.outside_is_threads())) {
    state_.queue_waits.begin(state_.blocked_at.since);
  }
  if (waits_for == WaitsFor::kOutside && environment_.outside != nullptr && site_ != 0) {
    state_.outside =
        environment_.outside->come(site_, state_.blocked_at.since, state_.clock.local());
  }
  state_.blocked.store(true, std::memory_order_relaxed);
  hold_timer();
  return true;
}

// Delays do not count where devices are not held up either (amplified load), with --waits, where
// the wait itself may have been shortened, and at calls that are known to be a queue.
Nanoseconds ThreadDelays::behind_schedule(Nanoseconds deadline) noexcept {
  if (is_interrupting()) return 0;
  const bool counts =
      environment_.outside != nullptr && !follows_waits() && !environment_.outside->is_queue(site_);
  return state_.schedules.postpone(site_, deadline, state_.clock.local(), counts);
}

void ThreadDelays::after_yielding(Nanoseconds local, Nanoseconds lasted) noexcept {
  if (lasted < kMinPause || is_interrupting()) return;
  const Exclusive exclusive(state_);
  if (state_.clock.local() != local) return;  // it was charged, or paused, in its handler
  apply_deferred();
  state_.clock.yielded(lasted, environment_.global.get());
}

void ThreadDelays::after_blocking(WakeSource wake_source, std::uintptr_t object) noexcept {
  const Exclusive exclusive(state_);
  end_outside_wait(wake_source);
  auto waker = wake_source == WakeSource::kThread ? find_other(object) : std::nullopt;
  if (state_.waits_outside) {
    const Nanoseconds since = state_.blocked_at.since;
    const bool by_thread = waker && waker->at >= since;
    state_.queue_waits.end_outside(environment_.now() - since, by_thread);
    if (!by_thread) state_.queue_waits.cancel();
  }
  if (wake_source == WakeSource::kThread) {
    end_queue_wait(object, waker, 0);
    // A mutex is released without a record if the thread came to wait just then.
    if (waker && waker->at != 0 && waker->at < state_.blocked_at.since) waker.reset();
    if (waker || (object & kOfOthersToo) == 0) {
      credit(state_.blocked_at, waker ? std::optional(waker->local) : std::nullopt,
             waker && waker->owes);
    }
  }
  end_wait(wake_source != WakeSource::kNone);
}

// If the last signal came before the wait, or has no record, nothing is known about what woke the
// thread, and G of now stands in for it. If a process that is not profiled may have, nothing has
// been served.
void ThreadDelays::after_condition(std::uintptr_t condition, std::uintptr_t mutex,
                                   std::uintptr_t role) noexcept {
  const Exclusive exclusive(state_);
  const Release unknown{
      (condition & kOfOthersToo) != 0 ? state_.blocked_at.local : environment_.global.get(),
      environment_.now()};
  const auto signalled = find_other(condition);
  end_queue_wait(condition, signalled, role);
  const bool is_known = signalled && signalled->at >= state_.blocked_at.since;
  const Release signal = is_known ? Release{signalled->local, signalled->at} : unknown;
  // Without another thread's record, this one has not waited for the mutex.
  const auto holder = find_other(mutex);
  credit(state_.blocked_at,
         holder ? served_at_last(signal, {holder->local, holder->at}) : signal.local,
         (is_known && signalled->owes) || (holder && holder->owes));
  end_wait(true);
}

// The time-out counts as the first of two releases, with nothing served since the thread blocked.
// Waiting for it earns no credit; waiting for the mutex afterwards does. The rest is due. To pay it
// here, with the mutex held, would hold up all other users of the mutex; so the thread waits on, as
// if the time-out came later. It does not where that has been tried and the wait did not last,
// as where the deadline is of a clock that was not recognised.
//
// If another thread ends the wait then, the time-out would not have come before, had nobody paused:
// all of the wait has been for that thread, but for what is paid already.
ThreadDelays::Prolongation ThreadDelays::prolong_wait(Nanoseconds timed_out, Nanoseconds prolonged,
                                                      std::uintptr_t mutex) noexcept {
  const Exclusive exclusive(state_);
  const auto holder = find_other(mutex);
  // Until then the thread has slept, whoever had the mutex.
  const Nanoseconds woken = std::max(state_.blocked_at.since, timed_out) + kUsuallyOverslept;
  const bool is_held_up = holder && holder->at > woken;
  // What it overslept serves later debts, as after a pause. More than kMaxOverslept was a wait for
  // the mutex, whose release has no record.
  if (prolonged > 0) {
    const Nanoseconds lasted = environment_.now() - state_.prolonged_at;
    const Nanoseconds most = prolonged + (is_held_up ? 0 : kMaxOverslept);
    state_.clock.paused(prolonged, std::min(lasted, most));
    if (lasted < prolonged) return {0, timed_out};
  }
  const auto wait = state_.clock.block(std::max(state_.blocked_at.since, timed_out));
  if (is_held_up) {
    credit(wait, served_at_last({wait.local, wait.since}, {holder->local, holder->at}),
           holder->owes);
  }
  const Nanoseconds paid = state_.clock.local() - state_.blocked_at.local;
  // What is deferred raises the delay as the wait ends, and others may have raised G by it already.
  const Nanoseconds deferred = state_.deferred.load(std::memory_order_relaxed);
  const Nanoseconds due =
      has_ended() ? 0 : state_.clock.pause_due(global_now() - deferred, kMinPause);
  state_.blocked_at = {state_.clock.local(), state_.blocked_at.since + paid};
  state_.prolonged_at = environment_.now();
  return {due, state_.prolonged_at + due};
}

std::optional<WakerTable::Waker> ThreadDelays::find_other(std::uintptr_t object) const noexcept {
  const auto waker = environment_.wakers.find(object);
  if (waker && waker->thread == state_.slot) return std::nullopt;
  return waker;
}

void ThreadDelays::credit(const ThreadClock::Blocked& wait, std::optional<Nanoseconds> served,
                          bool owes) noexcept {
  const Nanoseconds shortened = state_.lock_wait_charge;
  state_.lock_wait_charge = 0;
  // G holds what this wait was charged, so it cannot stand in for an unknown waker.
  if (shortened > 0 && !served) served = wait.local;
  // Whoever wakes another has settled before, unless it is a signal handler that interrupted a
  // call, or `owes`. So a waker that has served less has done so long ago, and something unknown
  // has ended this wait.
  constexpr Nanoseconds kUnlimited = std::numeric_limits<Nanoseconds>::max();
  const Nanoseconds now = environment_.now();
  state_.thread_wait.store(state_.thread_wait.load(std::memory_order_relaxed) +
                               std::max<Nanoseconds>(now - wait.since, 0),
                           std::memory_order_relaxed);
  state_.clock.credit(wait, now, served, environment_.global.get(), environment_.max_saved_wait,
                      shortened, owes ? kUnlimited : kMinPause);
}

void ThreadDelays::end_queue_wait(std::uintptr_t object,
                                  const std::optional<WakerTable::Waker>& waker,
                                  std::uintptr_t role) noexcept {
  if (state_.queue_waits.since() == 0) return;
  state_.queue_waits.end(object, waker ? waker->thread : QueueWaits::kUnknownWaker,
                         environment_.now(), role);
}

void ThreadDelays::end_wait(bool pays) noexcept {
  state_.queue_waits.cancel();
  state_.lock_wait_charge = 0;
  state_.blocked.store(false, std::memory_order_relaxed);
  state_.in_marked_wait.store(false, std::memory_order_relaxed);
  apply_deferred();
  if (pays) pay_until_settled();
  state_.smoother.begin_segment(site_);
  resume_segment_exclusively();
  release_timer();
}

bool ThreadDelays::has_ended() const noexcept {
  return environment_.has_ended != nullptr && environment_.has_ended();
}

// Before the thread pays: pauses did not hold up what it waited for.
void ThreadDelays::end_outside_wait(WakeSource wake_source) noexcept {
  const auto request = std::exchange(state_.outside, {});
  if (request.place == 0) return;
  if (wake_source != WakeSource::kExternal || has_ended()) {
    return environment_.outside->give_up(request);
  }
  const Nanoseconds now = environment_.now();
  const Nanoseconds end = environment_.outside->finish(request, now);
  if (end > now + kMinPause) state_.clock.paused(0, environment_.sleep_until(end) - end);
}

ThreadDelays::TargetWait ThreadDelays::enter_wait(std::uint32_t target, const AwaitedLock* lock,
                                                  Nanoseconds deadline) noexcept {
  if (target == kNoTarget) return {};
  const Nanoseconds ran = lock != nullptr ? 0 : environment_.processor_time();
  const bool is_followed = environment_.waits->enter(state_.slot, target, state_.clock.local(),
                                                     environment_.now(), deadline);
  if (is_followed && lock != nullptr) {
    environment_.waits->waits_for(state_.slot, lock->key, [=] { return lock->holder(lock->lock); });
  }
  return {ran, is_followed, lock != nullptr};
}

Nanoseconds ThreadDelays::leave_wait(const TargetWait& wait) noexcept {
  if (!wait.is_followed) return 0;
  const auto left = leave(wait.is_for_lock ? 0 : environment_.processor_time() - wait.ran);
  if (wait.is_for_lock) state_.lock_wait_charge = left.charge;
  return left.waited;
}

WaitCharges::Left ThreadDelays::leave(Nanoseconds ran) noexcept {
  const auto left = environment_.waits->leave(state_.slot, environment_.selection.get(),
                                              environment_.now(), ran, environment_.period);
  state_.deferred.fetch_add(left.charge, std::memory_order_relaxed);
  state_.outside.request.is_sped_up = left.is_selected || left.charge > 0;
  if (left.is_selected) count_target_wait(left.waited);
  return left;
}

// A period of waiting counts like a sample.
void ThreadDelays::count_target_wait(Nanoseconds waited) noexcept {
  state_.target_wait += waited;
  const auto periods = static_cast<std::uint64_t>(state_.target_wait / environment_.period);
  state_.target_wait %= environment_.period;
  count_target_samples(periods);
}

void ThreadDelays::catch_up() noexcept {
  if (is_interrupting()) return;
  const Exclusive exclusive(state_);
  apply_charges();
  pay_until_settled();
  resume_segment_exclusively();
  release_timer();  // which a wait that has just been ended holds
}

void ThreadDelays::before_ending(std::uintptr_t object) noexcept {
  {
    const Exclusive exclusive(state_);
    apply_charges();
    discharge_all();
    environment_.pending.give_up(state_.slot);
    if (environment_.waits != nullptr) environment_.waits->forget(state_.slot);
    leave_outside_queue();
  }
  before_waking(object);
  environment_.young.leave_excess(state_.kind, state_.clock.excess());
}

// A thread that others wait for in the selected target, which is a lock, pays later.
// `expected`: what it is about to be charged, of which others may have raised G.
void ThreadDelays::pay_until_settled(Nanoseconds expected) noexcept {
  Nanoseconds paid = 0, most = 0;
  // G may grow while the thread sleeps.
  for (;;) {
    const Nanoseconds global = global_now();
    Nanoseconds due = state_.clock.pause_due(global - expected, kMinPause);
    // G is at least what any thread has served, even if no thread has been charged it yet.
    environment_.global.raise_to(due == 0 ? state_.clock.local() : global);
    if (due == 0 || has_ended()) return;
    if (const auto waits = lock_waits(); waits != WaitCharges::LockWaits::kNone) {
      if (waits == WaitCharges::LockWaits::kForThis) return;
      if (paid == 0) most = due + kMaxPeriodsBesideLocks * environment_.period;
      due = std::min(due, most - paid);
      if (due <= 0) return;
    }
    pause(due);
    paid += due;
  }
}

WaitCharges::LockWaits ThreadDelays::lock_waits() const noexcept {
  if (environment_.waits == nullptr || environment_.waits->is_empty()) {
    return WaitCharges::LockWaits::kNone;
  }
  return environment_.waits->lock_waits(environment_.selection.get(), state_.holder,
                                        state_.shared_lock);
}

void ThreadDelays::pause(Nanoseconds due) noexcept {
  const bool counts_cost = state_.queue_waits.any() || environment_.pauses_busily;
  const Nanoseconds ran = counts_cost ? environment_.processor_time() : 0;
  const Nanoseconds start = environment_.now();
  hold_timer();
  state_.pausing.store(true, std::memory_order_relaxed);
  state_.clock.paused(due, environment_.sleep_until(start + due) - start);
  state_.pausing.store(false, std::memory_order_relaxed);
  if (!state_.blocked.load(std::memory_order_relaxed)) release_timer();
  if (counts_cost) {
    state_.pause_cost.fetch_add(environment_.processor_time() - ran, std::memory_order_relaxed);
  }
}

}  // namespace coz
