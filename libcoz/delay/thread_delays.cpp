#include "delay/thread_delays.h"

namespace coz {
namespace {

// Bytes. The kernel saves more than this (1 KB and up) on the stack before it calls a handler.
constexpr std::uintptr_t kMinSignalFrame = 512;

std::uintptr_t frame() noexcept {
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
}

}  // namespace

class ThreadDelays::Turn {
 public:
  explicit Turn(ThreadState& thread) noexcept
      : thread_(thread), was_(thread.busy.load(std::memory_order_relaxed)) {
    thread_.busy.store(true, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~Turn() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    thread_.busy.store(was_, std::memory_order_relaxed);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  ThreadState& thread_;
  bool was_;
};

void ThreadDelays::sampled(std::uint32_t target) noexcept {
  const Selection selection = environment_.selection.get();
  const bool is_in_target = selection.epoch != 0 && selection.target == target;
  if (thread_.busy.load(std::memory_order_relaxed) ||
      thread_.blocked.load(std::memory_order_relaxed)) {
    if (is_in_target) thread_.deferred.fetch_add(selection.delay, std::memory_order_relaxed);
    return;
  }
  const Turn turn(thread_);
  if (is_in_target && thread_.smoothed_target != target) {
    thread_.smoother.clear();
    thread_.smoothed_target = target;
  }
  // Also with a delay of 0: a bucket is as full in a baseline as under a speedup.
  thread_.smoother.sample(is_in_target, environment_.period, is_in_target ? environment_.now() : 0);
  discharge();
  pay_until_settled();
  resume_in_turn();
}

bool ThreadDelays::is_interrupting() const noexcept {
  if (thread_.busy.load(std::memory_order_relaxed)) return true;
  if (!thread_.blocked.load(std::memory_order_relaxed)) return false;
  // A handler may have left the call for good, by longjmp: then no signal frame lies below it.
  if (frame() + kMinSignalFrame < thread_.blocked_frame) return true;
  thread_.blocked.store(false, std::memory_order_relaxed);
  return false;
}

void ThreadDelays::settle_in_turn() noexcept {
  if (is_interrupting()) return;
  const Turn turn(thread_);
  drain();
  pay_until_settled();
  // The pause was no run of the code segment, should it be charged once more before the call
  // blocks.
  if (!thread_.smoother.is_idle()) thread_.smoother.resume(environment_.now());
}

bool ThreadDelays::before_blocking() noexcept {
  if (is_interrupting()) return false;
  const Turn turn(thread_);
  drain();
  thread_.blocked_at = thread_.clock.block(environment_.now());
  thread_.blocked_frame = frame();
  thread_.blocked.store(true, std::memory_order_relaxed);
  return true;
}

void ThreadDelays::after_blocking(WakeSource wake_source, std::uintptr_t object) noexcept {
  const Turn turn(thread_);
  if (wake_source == WakeSource::kThread) {
    const auto waker = find_other(object);
    credit(thread_.blocked_at, waker ? std::optional(waker->local) : std::nullopt);
  }
  end_wait(wake_source != WakeSource::kNone);
}

// The last signal may have come before the wait, or have no record: then nothing is known of what
// woke the thread, and G now stands for it.
void ThreadDelays::after_condition(std::uintptr_t condition, std::uintptr_t mutex) noexcept {
  const Turn turn(thread_);
  const Release unknown{environment_.global.get(), environment_.now()};
  const auto signalled = find_other(condition);
  const bool is_known = signalled && signalled->at >= thread_.blocked_at.since;
  const Release signal = is_known ? Release{signalled->local, signalled->at} : unknown;
  const auto holder = environment_.wakers.find(mutex);
  if (holder && holder->thread == thread_.slot) {  // nobody has had it since
    credit(thread_.blocked_at, signal.local);
  } else {
    const Release release = holder ? Release{holder->local, holder->at} : unknown;
    credit(thread_.blocked_at, served_at_last(signal, release));
  }
  end_wait(true);
}

// The clock is the first of two releases, with nothing served since the thread blocked. Waiting for
// it earns no credit, waiting for the mutex does. The rest is due. To pay it here, with the mutex
// held, would hold up all others who use it; so the thread waits on, as if the time-out came later.
// Unless that has been tried and did not last: a deadline whose clock was not recognised.
ThreadDelays::Prolongation ThreadDelays::prolong_wait(Nanoseconds timed_out, Nanoseconds prolonged,
                                                      std::uintptr_t mutex) noexcept {
  const Turn turn(thread_);
  const Nanoseconds lasted = environment_.now() - thread_.blocked_at.since;
  thread_.clock.paused(prolonged, std::min(prolonged, lasted));
  if (lasted < prolonged) return {0, timed_out};
  ThreadClock::Blocked wait = thread_.clock.block(std::max(thread_.blocked_at.since, timed_out));
  const auto holder = find_other(mutex);
  if (holder && holder->at > wait.since) {
    credit(wait, served_at_last({wait.local, wait.since}, {holder->local, holder->at}));
  }
  const Nanoseconds due = thread_.clock.pause_due(global_now(), kMinPause);
  thread_.blocked_at = thread_.clock.block(environment_.now());
  return {due, thread_.blocked_at.since + due};
}

std::optional<WakerTable::Waker> ThreadDelays::find_other(std::uintptr_t object) const noexcept {
  const auto waker = environment_.wakers.find(object);
  if (waker && waker->thread == thread_.slot) return std::nullopt;
  return waker;
}

void ThreadDelays::credit(const ThreadClock::Blocked& wait,
                          std::optional<Nanoseconds> served) noexcept {
  thread_.clock.credit(wait, environment_.now(), served, environment_.global.get(),
                       environment_.max_saved_wait);
}

void ThreadDelays::end_wait(bool pays) noexcept {
  thread_.blocked.store(false, std::memory_order_relaxed);
  drain_deferred();
  if (pays) pay_until_settled();
  thread_.smoother.begin(site_);
  resume_in_turn();
}

void ThreadDelays::publish() noexcept {
  const Turn turn(thread_);
  drain();
  resume_in_turn();
}

void ThreadDelays::arrived(Amplification& amplification, Nanoseconds ran) noexcept {
  if (is_interrupting()) {
    // A handler of the program's in the midst of a call: charged when that ends. The thread's
    // arrivals are another handler's, or will be this one's; there is no order to speak of.
    const Arrival arrival{amplification.delay(), 0, true, false};
    thread_.deferred.fetch_add(arrival.charge, std::memory_order_relaxed);
    amplification.count(thread_.slot, arrival);
    return;
  }
  const Turn turn(thread_);
  drain();
  const Arrival arrival = thread_.arrivals.arrive(environment_.now() - thread_.clock.local(),
                                                  amplification.delay(), ran);
  if (arrival.charge > 0) thread_.clock.charge(arrival.charge, environment_.global);
  amplification.count(thread_.slot, arrival);
  resume_in_turn();
}

void ThreadDelays::catch_up() noexcept {
  const Turn turn(thread_);
  drain();
  pay_until_settled();
  resume_in_turn();
}

void ThreadDelays::before_ending(std::uintptr_t object) noexcept {
  {
    const Turn turn(thread_);
    drain();
    const Selection selection = environment_.selection.get();
    const Nanoseconds left = thread_.smoother.discharge_all();
    if (selection.epoch != 0 && selection.target == thread_.smoothed_target) {
      thread_.clock.charge(selection.delay_for(left, environment_.period), environment_.global);
    }
    environment_.pending.give_up(thread_.slot);
  }
  before_waking(object);
}

Nanoseconds ThreadDelays::effective_now() const noexcept {
  const Nanoseconds time = environment_.now();
  Nanoseconds delay = thread_.clock.local() + thread_.deferred.load(std::memory_order_relaxed);
  if (!thread_.smoother.is_idle()) {
    const Selection selection = environment_.selection.get();
    if (selection.target == thread_.smoothed_target) {
      const Decay decay = thread_.smoother.decay(environment_.period);
      delay += selection.delay_for(decay.by(time), environment_.period);
    }
  }
  return time - delay;
}

Nanoseconds ThreadDelays::max_pending() const noexcept {
  const Selection selection = environment_.selection.get();
  if (selection.epoch == 0) return 0;
  return environment_.pending.most(selection, environment_.period, environment_.now);
}

void ThreadDelays::resume() noexcept {
  const Turn turn(thread_);
  resume_in_turn();
}

void ThreadDelays::resume_in_turn() noexcept {
  if (thread_.smoother.is_idle()) return;
  thread_.smoother.resume(environment_.now());
  environment_.pending.publish(thread_.slot, thread_.smoothed_target, thread_.clock.local(),
                               thread_.smoother.decay(environment_.period));
}

void ThreadDelays::discharge() noexcept {
  if (thread_.smoother.is_idle()) return;
  environment_.pending.withdraw(thread_.slot);
  const Selection selection = environment_.selection.get();
  if (selection.epoch == 0) return;  // between two windows
  if (selection.target != thread_.smoothed_target) {
    thread_.smoother.clear();
    return;
  }
  const Nanoseconds part = thread_.smoother.discharge(environment_.period, environment_.now());
  thread_.clock.charge(selection.delay_for(part, environment_.period), environment_.global);
}

void ThreadDelays::drain() noexcept {
  drain_deferred();
  discharge();
}

void ThreadDelays::drain_deferred() noexcept {
  // Looked at first: this runs at every lock, and an exchange costs as much as the lock itself.
  if (thread_.deferred.load(std::memory_order_relaxed) == 0) return;
  const Nanoseconds deferred = thread_.deferred.exchange(0, std::memory_order_relaxed);
  if (deferred > 0) thread_.clock.charge(deferred, environment_.global);
}

void ThreadDelays::pay_until_settled() noexcept {
  // G may grow while the thread sleeps.
  for (;;) {
    const Nanoseconds global = global_now();
    const Nanoseconds due = thread_.clock.pause_due(global, kMinPause);
    // What a thread has served, G has come to, though nobody has been charged it yet.
    environment_.global.raise_to(due == 0 ? thread_.clock.local() : global);
    if (due == 0) return;
    const Nanoseconds start = environment_.now();
    thread_.pausing.store(true, std::memory_order_relaxed);
    thread_.clock.paused(due, environment_.sleep_until(start + due) - start);
    thread_.pausing.store(false, std::memory_order_relaxed);
  }
}

}  // namespace coz
