// The project's own rules: libcoz/delay as it is, on the simulated clock.
#ifndef TESTS_ORACLE_COZ_ACCOUNTING_H
#define TESTS_ORACLE_COZ_ACCOUNTING_H

#include <memory>

#include "delay/call_rules.h"
#include "delay/thread_delays.h"
#include "tests/oracle/accounting.h"

namespace oracle {

inline constexpr std::uint32_t kSelected = 1;

using HolderOf = FunctionRef<coz::LockHolder>;

class CozAccounting final : public Accounting {
 public:
  CozAccounting(std::uint32_t slot, const coz::DelayEnvironment& environment) noexcept
      : delays_(state_, environment) {
    state_.slot = slot;
    state_.holder = slot + 1;
  }

  void sampled(Nanoseconds delay) noexcept override {
    delays_.sampled(delay > 0 ? kSelected : kSelected + 1);
  }
  void called_from(std::uintptr_t site) noexcept override { delays_.called_from(site); }

  void acquire(std::uintptr_t object, FunctionRef<bool> attempt, Call call) override {
    coz::rules::acquire(
        delays_, object, [&] { return attempt() ? Taken::kAtOnce : Taken::kNot; },
        is_taken_by_other,
        [&] { return call() == WakeSource::kThread ? Taken::kFromThread : Taken::kUnasked; },
        wake_source_of);
  }
  void acquire_lock(std::uintptr_t lock, coz::LockUse use, bool is_selected, HolderOf holder,
                    FunctionRef<bool> attempt, Call call) override {
    if (!delays_.follows_waits()) return acquire(lock, attempt, call);
    const auto wait = [&] {
      const coz::AwaitedLock awaited{lock, &holder, [](const void* of) noexcept {
                                       return (*static_cast<const HolderOf*>(of))();
                                     }};
      const auto entered = delays_.enter_wait(target_of(is_selected), &awaited);
      call();
      delays_.leave_wait(entered);
      return Taken::kFromThread;
    };
    coz::rules::acquire_followed(
        delays_, lock, [&] { return attempt() ? Taken::kAtOnce : Taken::kNot; }, is_taken_by_other,
        wait, wake_source_of, use);
  }
  void release(std::uintptr_t object, FunctionRef<void> call) override {
    coz::rules::release(delays_, object, call);
  }
  void release_mutex(std::uintptr_t mutex, FunctionRef<bool> is_waited_for,
                     FunctionRef<void> call) override {
    coz::rules::release_mutex(delays_, mutex, is_waited_for, call);
  }
  void release_rwlock(std::uintptr_t lock, FunctionRef<void> call) override {
    coz::rules::release_rwlock(delays_, lock, [&] {
      call();
      return 0;
    });
  }
  void signal_condition(std::uintptr_t condition, FunctionRef<void> call) override {
    coz::rules::signal_condition(delays_, condition, call);
  }
  void wait_for_condition(coz::rules::Condition waits, FunctionRef<bool> is_waited_for,
                          LongerCall call, FunctionRef<Nanoseconds> timed_out) override {
    coz::rules::wait_for_condition(delays_, waits, is_waited_for, call, as_said, timed_out);
  }
  void meet(std::uintptr_t barrier, Call call) override {
    coz::rules::meet(delays_, barrier, call, as_said);
  }
  void wait_for_outside(bool is_selected, FunctionRef<void> call) override {
    coz::rules::wait_for_outside(delays_, [&] {
      const bool follows = delays_.follows_waits();
      const auto wait =
          follows ? delays_.enter_wait(target_of(is_selected)) : coz::ThreadDelays::TargetWait{};
      call();
      if (follows) delays_.leave_wait(wait);
      return 0;
    });
  }

  void create(FunctionRef<void, Nanoseconds> call) override {
    coz::rules::create(delays_, [&](Nanoseconds inherited) {
      call(inherited);
      return 0;
    });
  }
  void begin(Nanoseconds inherited, std::uintptr_t kind) noexcept override {
    state_.reset(state_.slot);
    delays_.begin(inherited, kind);
  }
  void end(std::uintptr_t object) noexcept override { delays_.before_ending(object); }

  Nanoseconds effective_now() const noexcept override { return delays_.effective_now(); }
  const coz::DelayState* state() const noexcept override { return &state_; }

 private:
  // Like the return values of a real lock call.
  enum class Taken { kAtOnce, kNot, kFromThread, kUnasked };

  static bool is_taken_by_other(Taken taken) noexcept { return taken == Taken::kNot; }
  static WakeSource wake_source_of(Taken taken) noexcept {
    return taken == Taken::kFromThread || taken == Taken::kAtOnce ? WakeSource::kThread
                                                                  : WakeSource::kNone;
  }
  static std::uint32_t target_of(bool is_selected) noexcept {
    return is_selected ? kSelected : kSelected + 1;
  }
  static WakeSource as_said(WakeSource wake_source) noexcept { return wake_source; }

  coz::DelayState state_;
  coz::ThreadDelays delays_;
};

class CozProfiler final : public Profiler {
 public:
  // `follows_waits`: as with --waits.
  CozProfiler(Clock clock, Nanoseconds period, bool follows_waits) noexcept
      : environment_{global_,
                     wakers_,
                     pending_,
                     young_,
                     selection_,
                     period,
                     clock.now,
                     clock.sleep_until,
                     coz::kMaxSavedPeriods * period,
                     pauses_cost_nothing,
                     nullptr,
                     follows_waits ? &waits_ : nullptr,
                     &lock_holds_,
                     &outside_} {}

  std::unique_ptr<Accounting> profile_thread(std::uint32_t slot) override {
    return std::make_unique<CozAccounting>(slot, environment_);
  }
  void select(double speedup) noexcept override {
    selection_.select(kSelected,
                      static_cast<Nanoseconds>(speedup * static_cast<double>(environment_.period)));
  }
  Nanoseconds global_delay() const noexcept override { return global_.get(); }

 private:
  // The model does not count them among what a thread ran.
  static Nanoseconds pauses_cost_nothing() noexcept { return 0; }

  coz::GlobalDelay global_;
  coz::WakerTable wakers_;
  coz::PendingCharges pending_;
  coz::YoungCharges young_;
  coz::SelectionCell selection_;
  coz::WaitCharges waits_;
  coz::LockHolds lock_holds_;
  coz::OutsideQueues outside_;
  coz::DelayEnvironment environment_;
};

}  // namespace oracle

#endif  // TESTS_ORACLE_COZ_ACCOUNTING_H
