// Where each lock was taken last: the address to which that call returns.
//
// A lossy, direct-mapped table, keyed by the lock's address: a newer lock may replace an older one.
// Nothing is known of a lock then, nor while the program has it by a call that is not recorded, as
// trylock, nor of one that several share once the first has released it. An entry contains its key
// mixed with its data, so that a torn entry matches no lock. Any thread; lock-free and signal-safe.
#ifndef LIBCOZ_TARGET_LOCK_HOLDS_H
#define LIBCOZ_TARGET_LOCK_HOLDS_H

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace coz {

class LockHolds {
 public:
  void taken(std::uintptr_t lock, std::uintptr_t site) noexcept {
    Entry& entry = entries_[index_of(lock)];
    entry.site.store(site, std::memory_order_relaxed);
    entry.check.store(mix(lock, site), std::memory_order_relaxed);
  }

  // The lock is about to be released. The next to take it may do so without a record.
  void released(std::uintptr_t lock) noexcept {
    if (taken_at(lock) != 0) taken(lock, 0);
  }

  // 0: not known.
  std::uintptr_t taken_at(std::uintptr_t lock) const noexcept {
    const Entry& entry = entries_[index_of(lock)];
    const std::uintptr_t site = entry.site.load(std::memory_order_relaxed);
    return entry.check.load(std::memory_order_relaxed) == mix(lock, site) ? site : 0;
  }

 private:
  static constexpr std::size_t kEntries = 4096;
  static constexpr std::uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;  // its fraction, times 2^64

  struct Entry {
    std::atomic<std::uintptr_t> site{0};
    std::atomic<std::uint64_t> check{0};
  };

  static std::size_t index_of(std::uintptr_t lock) noexcept { return (lock * kGoldenRatio) >> 52; }
  static std::uint64_t mix(std::uintptr_t lock, std::uintptr_t site) noexcept {
    return lock ^ (site * 0xc2b2ae3d27d4eb4fU);
  }

  std::array<Entry, kEntries> entries_{};
};

}  // namespace coz

#endif  // LIBCOZ_TARGET_LOCK_HOLDS_H
