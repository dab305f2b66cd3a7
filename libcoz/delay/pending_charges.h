// What threads that run selected targets are about to be charged, so that others need not wait
// for the end of a code segment to learn of it.
//
// A thread is charged when its code segment ends (charge_smoother.h), usually as it comes to a
// lock. If the others learned of it only then, they would pay for it in whatever they do at that
// moment, which is often a critical section. So a thread publishes how its bucket decays, and
// whoever has to pay adds what has accrued by now: G grows as evenly as the target runs.
//
// Only a few threads have an entry; the others become known when they are charged. Lock-free; any
// thread, also in signal handlers. Only its owner writes an entry, except for the moment in which
// another thread takes over one that belongs to an earlier selection.
#ifndef LIBCOZ_DELAY_PENDING_CHARGES_H
#define LIBCOZ_DELAY_PENDING_CHARGES_H

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

#include "common/clock.h"
#include "delay/decay.h"
#include "target/selection.h"

namespace coz {

class PendingCharges {
 public:
  // The thread of `slot` has served `local`, and goes on to run what costs `delay` for each period
  // in the selection of this epoch.
  void publish(std::uint32_t slot, std::uint32_t epoch, Nanoseconds local, Nanoseconds delay,
               const Decay& decay) noexcept {
    const std::uint32_t index = slot % kEntries;
    Entry& entry = entries_[index];
    if (!is_owned(entry, slot, epoch)) return;
    entry.delay.store(delay, std::memory_order_relaxed);
    entry.scale.store(decay.scale, std::memory_order_relaxed);
    // `since` must be stored before `local`. A reader that saw the new `local` with the old `since`
    // would count twice what `local` contains already, and raise G too far; G never falls.
    // `line_time` comes last: a reader that sees it sees the other two.
    entry.since.store(decay.since, std::memory_order_relaxed);
    entry.local.store(local, std::memory_order_release);
    entry.line_time.store(decay.line_time, std::memory_order_release);
    const std::uint32_t bit = 1U << index;
    if ((used_.load(std::memory_order_relaxed) & bit) == 0) {
      used_.fetch_or(bit, std::memory_order_release);
    }
  }

  // The thread does not run such a target for now, or has been charged.
  void withdraw(std::uint32_t slot) noexcept {
    Entry& entry = entries_[slot % kEntries];
    if (entry.owner.load(std::memory_order_relaxed) == slot + 1) {
      entry.line_time.store(0, std::memory_order_release);
    }
  }

  // The thread ends.
  void give_up(std::uint32_t slot) noexcept {
    withdraw(slot);
    std::uint32_t owner = slot + 1;
    entries_[slot % kEntries].owner.compare_exchange_strong(owner, 0, std::memory_order_release,
                                                            std::memory_order_relaxed);
  }

  // True if no thread is about to be charged now: a cheap check before `max_local`.
  bool is_empty() const noexcept {
    for (std::uint32_t left = used_.load(std::memory_order_acquire); left != 0; left &= left - 1) {
      const Entry& entry = entries_[static_cast<std::size_t>(std::countr_zero(left))];
      if (entry.line_time.load(std::memory_order_relaxed) != 0) return false;
    }
    return true;
  }

  // The most that a thread will have been charged by now in this epoch; 0 if none is about to be.
  // `now` is called only when needed.
  template <typename Now>
  Nanoseconds max_local(std::uint32_t epoch, Nanoseconds period, Now now) const noexcept {
    Nanoseconds highest = 0;
    Nanoseconds time = 0;
    for (std::uint32_t left = used_.load(std::memory_order_acquire); left != 0; left &= left - 1) {
      const Entry& entry = entries_[static_cast<std::size_t>(std::countr_zero(left))];
      Decay decay;
      decay.line_time = entry.line_time.load(std::memory_order_acquire);
      if (decay.line_time == 0) continue;
      if (entry.epoch.load(std::memory_order_relaxed) != epoch) continue;
      const Nanoseconds local = entry.local.load(std::memory_order_acquire);
      decay.since = entry.since.load(std::memory_order_relaxed);
      decay.scale = entry.scale.load(std::memory_order_relaxed);
      const Nanoseconds delay = entry.delay.load(std::memory_order_relaxed);
      if (time == 0) time = now();
      highest = std::max(highest, local + charge_for(decay.by(time), delay, period));
    }
    return highest;
  }

 private:
  static constexpr std::uint32_t kEntries = 8;
  struct alignas(64) Entry {
    std::atomic<std::uint32_t> owner{0};  // slot + 1
    std::atomic<std::uint32_t> epoch{0};
    std::atomic<Nanoseconds> line_time{0};
    std::atomic<Nanoseconds> local{0};
    std::atomic<Nanoseconds> since{0};
    std::atomic<Nanoseconds> scale{0};
    std::atomic<Nanoseconds> delay{0};
  };

  static bool is_owned(Entry& entry, std::uint32_t slot, std::uint32_t epoch) noexcept {
    std::uint32_t owner = entry.owner.load(std::memory_order_relaxed);
    if (owner != slot + 1) {
      if (owner != 0 && entry.epoch.load(std::memory_order_relaxed) == epoch) return false;
      if (!entry.owner.compare_exchange_strong(owner, slot + 1, std::memory_order_acquire,
                                               std::memory_order_relaxed)) {
        return false;
      }
      entry.line_time.store(0, std::memory_order_release);
    }
    entry.epoch.store(epoch, std::memory_order_relaxed);
    return true;
  }

  std::atomic<std::uint32_t> used_{0};  // bits of the entries that were ever written
  std::array<Entry, kEntries> entries_{};
};

}  // namespace coz

#endif  // LIBCOZ_DELAY_PENDING_CHARGES_H
