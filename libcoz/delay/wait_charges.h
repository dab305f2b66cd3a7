// What threads that wait in the selected target are about to be charged.
//
// A wait is sped up like a line: while a thread waits in the selected target, its delay grows by
// speedup × the time waited. It does so live: whoever has to pay adds what has accrued by now, as
// for running targets (pending_charges.h). In one piece at the end of the wait, the others would
// pay too late, when they may wait for this very thread.
//
// The waiting thread enters and leaves. The experimenter claims the time of all waits when the
// selection changes, so that a wait is charged for the part of it in which it was selected.
// A wait with a deadline is charged up to that time. Waking and getting a core afterwards take as
// long after a shorter wait.
//
// Lock-free; any thread. A thread enters one wait at a time. Threads that find their place taken,
// which takes more than 64, are not charged for that wait.
//
// A wait may be for a lock. Then the thread that holds it must not pay before it has released it:
// the wait would last longer by what it pays, and grow with what it is charged. So each wait says
// who holds its lock (LockHolder), unless threads share it: each knows that of itself, for the lock
// that it took last. A holder that goes unnoticed pays too early, but not for ever
// (thread_delays.cpp).
#ifndef LIBCOZ_DELAY_WAIT_CHARGES_H
#define LIBCOZ_DELAY_WAIT_CHARGES_H

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <limits>

#include "common/clock.h"
#include "target/selection.h"

namespace coz {

// Which thread holds a lock: its id in the kernel. 0: nobody, or it is not known.
using LockHolder = std::uint32_t;

// A lock that a thread waits for: how the rules name it, and where it is. `holder(lock)` says who
// holds it.
struct AwaitedLock {
  std::uintptr_t key = 0;
  const void* lock = nullptr;
  LockHolder (*holder)(const void* lock) noexcept = nullptr;
};

class WaitCharges {
 public:
  static constexpr std::uintptr_t kNoLock = 0;
  static constexpr Nanoseconds kNoDeadline = std::numeric_limits<Nanoseconds>::max();

  // The thread of `slot`, which has served `local`, waits in `target` from now on, until `deadline`
  // at the latest. False if it waits already, or has no place.
  bool enter(std::uint32_t slot, std::uint32_t target, Nanoseconds local, Nanoseconds now,
             Nanoseconds deadline = kNoDeadline) noexcept {
    Entry& entry = entry_of(slot);
    std::uint32_t nobody = 0;
    if (!entry.owner.compare_exchange_strong(nobody, slot + 1, std::memory_order_acquire,
                                             std::memory_order_relaxed)) {
      return false;
    }
    entry.target.store(target, std::memory_order_relaxed);
    entry.local.store(local, std::memory_order_relaxed);
    entry.accrued.store(0, std::memory_order_relaxed);
    entry.lock.store(kNoLock, std::memory_order_relaxed);
    entry.deadline.store(deadline, std::memory_order_relaxed);
    entry.since.store(now, std::memory_order_release);
    waiting_.fetch_or(bit_of(slot), std::memory_order_release);
    return true;
  }

  // The wait that enter() began is for `lock`. Its holder is read after the wait can be seen, by
  // `holder`: a thread that takes the lock later calls took(), and finds the wait.
  template <typename Holder>
  void waits_for(std::uint32_t slot, std::uintptr_t lock, Holder holder) noexcept {
    Entry& entry = entry_of(slot);
    entry.holder.store(0, std::memory_order_relaxed);
    entry.lock.store(lock, std::memory_order_seq_cst);
    LockHolder unknown = 0;
    entry.holder.compare_exchange_strong(unknown, holder(), std::memory_order_relaxed);
  }

  // `holder` has taken `lock`, for which others may wait.
  void took(std::uintptr_t lock, LockHolder holder) noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    for_each_waiting(*this, [&](Entry& entry) {
      if (entry.lock.load(std::memory_order_relaxed) == lock) {
        entry.holder.store(holder, std::memory_order_relaxed);
      }
    });
  }

  // It has released it.
  void released(std::uintptr_t lock, LockHolder holder) noexcept {
    for_each_waiting(*this, [&](Entry& entry) {
      LockHolder before = holder;
      if (entry.lock.load(std::memory_order_relaxed) == lock) {
        entry.holder.compare_exchange_strong(before, 0, std::memory_order_relaxed);
      }
    });
  }

  // Whether threads wait for a lock in the selected target, and for this thread among others, which
  // shares `shared_lock`, if that is not kNoLock.
  enum class LockWaits { kNone, kForOthers, kForThis };
  LockWaits lock_waits(const Selection& selection, LockHolder self,
                       std::uintptr_t shared_lock = kNoLock) const noexcept {
    LockWaits found = LockWaits::kNone;
    for_each_waiting(*this, [&](const Entry& entry) {
      const std::uintptr_t lock = entry.lock.load(std::memory_order_relaxed);
      if (lock == kNoLock || !is_selected(entry, selection)) return;
      if (entry.holder.load(std::memory_order_relaxed) == self || lock == shared_lock) {
        found = LockWaits::kForThis;
      } else if (found == LockWaits::kNone) {
        found = LockWaits::kForOthers;
      }
    });
    return found;
  }

  // Ends the wait that enter() began. `ran` is how much of it was processor time, which is not
  // waiting.
  struct Left {
    Nanoseconds waited = 0;  // since the last claim
    Nanoseconds charge = 0;  // for all of the wait
    bool is_selected = false;
  };
  Left leave(std::uint32_t slot, const Selection& selection, Nanoseconds now, Nanoseconds ran,
             Nanoseconds period) noexcept {
    Entry& entry = entry_of(slot);
    waiting_.fetch_and(~bit_of(slot), std::memory_order_relaxed);
    const Nanoseconds since = entry.since.exchange(0, std::memory_order_acq_rel);
    Left left;
    left.waited = std::max<Nanoseconds>(0, entry.waited(since, now) - ran);
    left.charge = entry.accrued.load(std::memory_order_acquire);
    left.is_selected = is_selected(entry, selection);
    if (left.is_selected) {
      left.charge += charge_for(left.waited, selection.delay, period);
    }
    entry.owner.store(0, std::memory_order_release);
    return left;
  }

  // The thread ends, or has left the call by a jump: a wait that it may be in is over.
  void forget(std::uint32_t slot) noexcept {
    Entry& entry = entry_of(slot);
    if (entry.owner.load(std::memory_order_relaxed) != slot + 1) return;
    waiting_.fetch_and(~bit_of(slot), std::memory_order_relaxed);
    entry.since.store(0, std::memory_order_relaxed);
    entry.owner.store(0, std::memory_order_release);
  }

  // No thread waits: a cheap check before max_local().
  bool is_empty() const noexcept { return waiting_.load(std::memory_order_acquire) == 0; }

  // The most that a thread which waits in the selected target will have been charged by now; 0 if
  // none does. `now` is called only when needed.
  template <typename Now>
  Nanoseconds max_local(const Selection& selection, Nanoseconds period, Now now) const noexcept {
    Nanoseconds highest = 0;
    if (selection.epoch == 0) return highest;
    for_each_waiting(*this, [&](const Entry& entry) {
      const Nanoseconds since = entry.since.load(std::memory_order_acquire);
      if (since == 0 || !is_selected(entry, selection)) return;
      const Nanoseconds served = entry.local.load(std::memory_order_relaxed) +
                                 entry.accrued.load(std::memory_order_relaxed);
      const Nanoseconds waited = entry.waited(since, now());
      // What was read belongs together only if it is still the same wait, without a new claim: the
      // clock, too, since this thread may lose its core. G never falls, so it must not be raised by
      // a mixture.
      std::atomic_thread_fence(std::memory_order_acquire);
      if (entry.since.load(std::memory_order_relaxed) != since) return;
      highest = std::max(highest, served + charge_for(waited, selection.delay, period));
    });
    return highest;
  }

  // Claims what all waits have lasted by now, and charges it where it was selected. Calls
  // `visit(target, waited)` for each. For one thread.
  template <typename Visit>
  void claim(const Selection& selection, Nanoseconds now, Nanoseconds period, Visit visit) {
    for_each_waiting(*this, [&](Entry& entry) {
      Nanoseconds since = entry.since.load(std::memory_order_acquire);
      const std::uint32_t target = entry.target.load(std::memory_order_relaxed);
      const bool selected = is_selected(entry, selection);
      if (since == 0 || now <= since ||
          !entry.since.compare_exchange_strong(since, now, std::memory_order_acq_rel)) {
        return;  // the wait is over: its thread claims it
      }
      const Nanoseconds waited = entry.waited(since, now);
      if (selected) {
        entry.accrued.fetch_add(charge_for(waited, selection.delay, period),
                                std::memory_order_release);
      }
      visit(target, waited);
    });
  }

 private:
  static constexpr std::uint32_t kEntries = 64;
  struct alignas(64) Entry {
    std::atomic<std::uint32_t> owner{0};  // slot + 1
    std::atomic<std::uint32_t> target{0};
    std::atomic<Nanoseconds> since{0};  // the wait's beginning, or the last claim; 0: none
    std::atomic<Nanoseconds> deadline{kNoDeadline};
    std::atomic<Nanoseconds> local{0};    // when it began
    std::atomic<Nanoseconds> accrued{0};  // until the last claim
    std::atomic<std::uintptr_t> lock{kNoLock};
    std::atomic<LockHolder> holder{0};

    Nanoseconds waited(Nanoseconds from, Nanoseconds to) const noexcept {
      return std::max<Nanoseconds>(0,
                                   std::min(to, deadline.load(std::memory_order_relaxed)) - from);
    }
  };

  static std::uint64_t bit_of(std::uint32_t slot) noexcept {
    return std::uint64_t{1} << (slot % kEntries);
  }
  Entry& entry_of(std::uint32_t slot) noexcept { return entries_[slot % kEntries]; }

  static bool is_selected(const Entry& entry, const Selection& selection) noexcept {
    return selection.epoch != 0 && entry.target.load(std::memory_order_relaxed) == selection.target;
  }

  template <typename Self, typename Visit>
  static void for_each_waiting(Self& self, Visit visit) {
    for (std::uint64_t left = self.waiting_.load(std::memory_order_acquire); left != 0;
         left &= left - 1) {
      visit(self.entries_[static_cast<std::size_t>(std::countr_zero(left))]);
    }
  }

  std::atomic<std::uint64_t> waiting_{0};  // bits of the entries in use
  std::array<Entry, kEntries> entries_{};
};

}  // namespace coz

#endif  // LIBCOZ_DELAY_WAIT_CHARGES_H
