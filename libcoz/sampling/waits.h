// Where waits are targets (--waits): finds the target of a wait, has the thread charged for it, and
// counts a period of waiting like a sample.
//
// enter() and leave() run in the waiting thread, in wrappers; claim() in the experimenter's.
// Nothing allocates or locks; errno is kept.
#ifndef LIBCOZ_SAMPLING_WAITS_H
#define LIBCOZ_SAMPLING_WAITS_H

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "delay/thread_delays.h"
#include "sampling/call_chain.h"
#include "sampling/histogram.h"
#include "symbols/modules.h"
#include "target/lock_waits.h"
#include "target/targets.h"
#include "unwind/loaded_object.h"

namespace coz {

// Which waits are targets: none, those at each line or function, or all of a class together.
enum class WaitTargets { kNone, kSites, kClasses };
inline constexpr std::array kWaitTargetsNames = {"none", "sites", "classes"};

class Waits {
 public:
  Waits(const Modules& modules, Targets& targets, Histogram& histogram, LockWaits& lock_waits,
        WaitTargets wanted, Nanoseconds period) noexcept
      : modules_(modules),
        targets_(targets),
        histogram_(histogram),
        lock_waits_(lock_waits),
        wanted_(wanted),
        period_(period) {}

  struct Wait {
    std::uint32_t target = kNoTarget;
    ThreadDelays::TargetWait followed;
    LockWait lock;          // of a wait for a lock
    Nanoseconds since = 0;  // effective
  };

  // Between ThreadDelays::before_blocking() and after_blocking(). `lock`: what the thread waits
  // for, if it is one. `deadline`: when the wait ends at the latest.
  Wait enter(WaitClass wait_class, const AwaitedLock* lock, Nanoseconds deadline,
             ThreadDelays& delays) noexcept {
    const std::uint32_t target = target_of(wait_class, delays);
    const auto followed = delays.enter_wait(target, lock, deadline);
    if (lock == nullptr) return {target, followed, {}, 0};
    const auto address = reinterpret_cast<std::uintptr_t>(lock->lock);
    return {target,
            followed,
            {target, is_static(address) ? address : lock_waits_.unnamed(lock->key),
             delays.taken_at(lock->key)},
            delays.settled_now()};
  }
  void leave(const Wait& wait, ThreadDelays& delays) noexcept {
    if (wait.target == kNoTarget) return;
    count(wait.target, delays.leave_wait(wait.followed));
    if (!wait.followed.is_for_lock) return;
    lock_waits_.add(wait.lock, std::max<Nanoseconds>(delays.settled_now() - wait.since, 0));
  }

  // Charges and counts what waits under way have lasted by now. Before the selection changes, and
  // before the histogram is read.
  void claim(WaitCharges& charges, const Selection& selection) noexcept {
    charges.claim(selection, now(), period_,
                  [&](std::uint32_t target, Nanoseconds waited) { count(target, waited); });
  }

 private:
  // The call's own line; if that is out of scope, the next line outwards that is in scope.
  std::uint32_t target_of(WaitClass wait_class, const ThreadDelays& delays) noexcept {
    if (wanted_ == WaitTargets::kClasses) return Targets::of_waits(wait_class);
    const std::uintptr_t site = delays.site();
    std::array<SourceFrame, 1> frames;
    std::size_t found = site == 0 ? 0 : modules_.find(site - 1, frames);
    if (found == 0) found = find_calling_frames(modules_, frames);
    return targets_.of_wait(std::span(frames).first(found), wait_class == WaitClass::kLock);
  }

  static bool is_static(std::uintptr_t address) noexcept {
    LoadedObject object;
    return find_loaded_object(address, object);
  }

  void count(std::uint32_t target, Nanoseconds waited) noexcept {
    const std::uint32_t periods = targets_.add_wait(target, waited, period_);
    if (periods > 0) histogram_.count_waits(target, periods);
  }

  const Modules& modules_;
  Targets& targets_;
  Histogram& histogram_;
  LockWaits& lock_waits_;
  WaitTargets wanted_;
  Nanoseconds period_;
};

}  // namespace coz

#endif  // LIBCOZ_SAMPLING_WAITS_H
