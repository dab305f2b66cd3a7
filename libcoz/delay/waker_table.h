// How much delay a thread had served when it released an object (a mutex, a condition, a barrier, a
// thread): ThreadClock::credit() in delay_ledger.h needs it.
//
// A lossy table, keyed by the object's address, with four entries where an object may be. A newer
// object may replace an older one, and then readers fall back to G. Writers and readers need no
// lock: an entry contains its key mixed with its data, so that a torn entry matches no object. Any
// thread, also in signal handlers.
#ifndef LIBCOZ_DELAY_WAKER_TABLE_H
#define LIBCOZ_DELAY_WAKER_TABLE_H

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "common/clock.h"

namespace coz {

class WakerTable {
 public:
  struct Waker {
    Nanoseconds local;
    std::uint32_t thread;  // index of the waker's slot
    Nanoseconds at;        // the last release whose time is known; 0: none
    bool owes = false;     // it has put off paying, so that whoever it wakes owes that, too
  };

  void record(std::uintptr_t object, Waker waker) noexcept {
    Entry& entry = entry_for(object);
    const auto local = static_cast<std::uint64_t>(waker.local);
    const std::uint64_t thread = waker.thread | (waker.owes ? kOwes : 0);
    const auto at = static_cast<std::uint64_t>(waker.at);
    entry.local.store(local, std::memory_order_relaxed);
    entry.thread.store(thread, std::memory_order_relaxed);
    entry.at.store(at, std::memory_order_relaxed);
    entry.check.store(mix(object, local, thread, at), std::memory_order_release);
  }

  // Records a release whose time nobody needs, and keeps the time of an earlier one. The thread
  // which that one woke still needs it: it may run only after another thread has taken the object
  // and released it.
  void record_without_time(std::uintptr_t object, Nanoseconds local, std::uint32_t thread,
                           bool owes = false) noexcept {
    const auto before = find(object);
    record(object, {local, thread, before ? before->at : 0, owes});
  }

  std::optional<Waker> find(std::uintptr_t object) const noexcept {
    for (const Entry& entry : sets_[index_of(object)]) {
      if (entry.object.load(std::memory_order_relaxed) == object) return read(entry, object);
    }
    return std::nullopt;
  }

 private:
  static constexpr std::size_t kSets = 1024;
  static constexpr std::uint64_t kOwes = std::uint64_t{1} << 32;  // beside the slot's index
  struct Entry {
    std::atomic<std::uintptr_t> object{0};
    std::atomic<std::uint64_t> local{0};
    std::atomic<std::uint64_t> thread{0};
    std::atomic<std::uint64_t> at{0};
    std::atomic<std::uint64_t> check{0};
  };

  static std::uint64_t mix(std::uintptr_t object, std::uint64_t local, std::uint64_t thread,
                           std::uint64_t at) noexcept {
    // Odd multipliers keep the arguments' bits apart; an all-zero entry matches no object.
    return (object * 0x9e3779b97f4a7c15U) ^ (local * 0xc2b2ae3d27d4eb4fU) ^
           (thread * 0x165667b19e3779f9U) ^ (at * 0x9fb21c651e98df25U) ^ 0x27d4eb2f165667c5U;
  }
  static std::size_t index_of(std::uintptr_t object) noexcept {
    return (object * 0x9e3779b97f4a7c15U) >> 54;
  }

  static std::optional<Waker> read(const Entry& entry, std::uintptr_t object) noexcept {
    const std::uint64_t check = entry.check.load(std::memory_order_acquire);
    const std::uint64_t local = entry.local.load(std::memory_order_relaxed);
    const std::uint64_t thread = entry.thread.load(std::memory_order_relaxed);
    const std::uint64_t at = entry.at.load(std::memory_order_relaxed);
    if (check != mix(object, local, thread, at)) return std::nullopt;
    return Waker{static_cast<Nanoseconds>(local), static_cast<std::uint32_t>(thread),
                 static_cast<Nanoseconds>(at), (thread & kOwes) != 0};
  }

  // The object's own entry; else one that no object has had; else one chosen by its address.
  Entry& entry_for(std::uintptr_t object) noexcept {
    Set& set = sets_[index_of(object)];
    for (Entry& entry : set) {
      std::uintptr_t owner = entry.object.load(std::memory_order_relaxed);
      if (owner == 0 &&
          entry.object.compare_exchange_strong(owner, object, std::memory_order_relaxed)) {
        return entry;
      }
      if (owner == object) return entry;
    }
    Entry& entry = set[(object * 0x9e3779b97f4a7c15U) >> 52 & 3];
    entry.object.store(object, std::memory_order_relaxed);
    return entry;
  }

  using Set = std::array<Entry, 4>;
  std::array<Set, kSets> sets_{};
};

}  // namespace coz

#endif  // LIBCOZ_DELAY_WAKER_TABLE_H
