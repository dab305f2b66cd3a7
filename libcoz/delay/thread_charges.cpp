// What ThreadDelays does about charges: of samples, which are smoothed (charge_smoother.h), and
// those that came while the thread was busy.
#include "delay/thread_delays.h"

namespace coz {

Nanoseconds ThreadDelays::effective_now() const noexcept {
  const Nanoseconds delay = state_.clock.local() + state_.deferred.load(std::memory_order_relaxed);
  return environment_.now() - delay - expected_charge();
}

// What the thread is about to be charged for this run of its segment, up to now.
Nanoseconds ThreadDelays::expected_charge() const noexcept {
  if (state_.smoother.is_idle()) return 0;
  const Selection selection = environment_.selection.get();
  if (!is_smoothed(selection)) return 0;
  const auto expected = state_.smoother.expected(environment_.period, selection.delay, mixes());
  return charge_for(expected.decay.by(environment_.now()), expected.delay, environment_.period);
}

Nanoseconds ThreadDelays::max_pending() const noexcept {
  const Selection selection = environment_.selection.get();
  if (selection.epoch == 0) return 0;
  const Nanoseconds pending =
      environment_.pending.max_local(selection.epoch, environment_.period, environment_.now);
  if (environment_.waits == nullptr) return pending;
  return std::max(pending,
                  environment_.waits->max_local(selection, environment_.period, environment_.now));
}

void ThreadDelays::resume_segment() noexcept {
  const Exclusive exclusive(state_);
  resume_segment_exclusively();
}

void ThreadDelays::resume_segment_exclusively() noexcept {
  if (state_.smoother.is_idle()) return;
  state_.smoother.resume_segment(environment_.now());
  const Selection selection = environment_.selection.get();
  if (mixes() != nullptr) follow(selection);
  if (!is_smoothed(selection)) return;
  const auto expected = state_.smoother.expected(environment_.period, selection.delay, mixes());
  if (expected.decay.line_time == 0) return;
  environment_.pending.publish(state_.slot, selection.epoch, state_.clock.local(), expected.delay,
                               expected.decay);
}

// Where windows are combined: the mixes take the delays of a selection that is new to the thread.
void ThreadDelays::follow(const Selection& selection) noexcept {
  if (selection.epoch == 0 || selection.epoch == state_.smoothed_epoch) return;
  state_.smoothed_epoch = selection.epoch;
  state_.smoother.follow_main(selection.target);
  if (state_.smoothed_target != kNoTarget) {
    // The last window had one target: the mixes say nothing of what is in the buckets.
    state_.smoother.clear();
    state_.smoothed_target = kNoTarget;
  }
  state_.smoother.reselect(mixes(), environment_.period, [&](std::uint32_t target) noexcept {
    return environment_.selection.delay_of(target, selection);
  });
}

// True if the smoother holds line time of what is selected. False between two windows.
bool ThreadDelays::is_smoothed(const Selection& selection) const noexcept {
  if (selection.epoch == 0) return false;
  return mixes() == nullptr ? selection.target == state_.smoothed_target
                            : selection.epoch == state_.smoothed_epoch;
}

// False if there is nothing to charge, or no window to charge it in.
bool ThreadDelays::begin_discharge(const Selection& selection) noexcept {
  if (state_.smoother.is_idle()) return false;
  environment_.pending.withdraw(state_.slot);
  if (selection.epoch == 0) return false;  // between two windows
  if (mixes() != nullptr) {
    follow(selection);
    return !state_.smoother.is_idle();
  }
  if (selection.target == state_.smoothed_target) return true;
  state_.smoother.clear();
  return false;
}

void ThreadDelays::charge(const ChargeSmoother::Charge& charge,
                          const Selection& selection) noexcept {
  const Nanoseconds delay = mixes() == nullptr ? selection.delay : charge.delay;
  state_.clock.charge(charge_for(charge.line_time, delay, environment_.period),
                      environment_.global);
}

// In a call, which ends a run of the segment.
void ThreadDelays::discharge() noexcept {
  const Selection selection = environment_.selection.get();
  if (!begin_discharge(selection)) return;
  charge(state_.smoother.discharge(environment_.period, environment_.now(), site_, mixes()),
         selection);
}

// In the signal handler.
void ThreadDelays::discharge_meanwhile() noexcept {
  const Selection selection = environment_.selection.get();
  if (!begin_discharge(selection)) return;
  charge(state_.smoother.discharge_meanwhile(environment_.period, environment_.now(), mixes()),
         selection);
}

void ThreadDelays::discharge_all() noexcept {
  const Selection selection = environment_.selection.get();
  if (mixes() != nullptr) follow(selection);
  Nanoseconds cost = 0;  // times the period
  state_.smoother.discharge_all(
      mixes(), environment_.period, [&](Nanoseconds line_time, const ChargeMix* mix) noexcept {
        cost += line_time * (mix == nullptr ? selection.delay : mix->delay());
      });
  if (!is_smoothed(selection)) return;
  state_.clock.charge(cost / environment_.period, environment_.global);
}

void ThreadDelays::apply_charges() noexcept {
  apply_deferred();
  discharge();
}

void ThreadDelays::apply_deferred() noexcept {
  // Read first: this runs at every lock, and an exchange costs as much as the lock itself.
  if (state_.deferred.load(std::memory_order_relaxed) == 0) return;
  const Nanoseconds deferred = state_.deferred.exchange(0, std::memory_order_relaxed);
  if (deferred > 0) state_.clock.charge(deferred, environment_.global);
}

}  // namespace coz
