// Which locks threads waited for at each wait site, and where those had been taken: number and time
// of the waits.
//
// A table of fixed size, which any thread fills and reads; lock-free and signal-safe. When it is
// full, waits for further locks are not counted.
#ifndef LIBCOZ_TARGET_LOCK_WAITS_H
#define LIBCOZ_TARGET_LOCK_WAITS_H

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "common/clock.h"

namespace coz {

// What a thread waits for: `target`, in which it does; the lock's address, or what else tells it
// from others, 0 for those that are not told apart; where it had been taken, 0 if that is not
// known.
struct LockWait {
  std::uint32_t target = 0;
  std::uintptr_t lock = 0;
  std::uintptr_t taken_at = 0;

  bool operator==(const LockWait&) const = default;
};

class LockWaits {
 public:
  static constexpr std::size_t kMaxKinds = 2048;
  // Of locks that are no static variables there may be as many as objects.
  static constexpr std::size_t kMaxUnnamed = 64;

  // `lock` identifies one that is no static variable. Returns it if it is one of the first
  // kMaxUnnamed that were waited for; else 0.
  std::uintptr_t unnamed(std::uintptr_t lock) noexcept {
    for (std::atomic<std::uintptr_t>& known : unnamed_) {
      std::uintptr_t seen = known.load(std::memory_order_relaxed);
      if (seen == 0 && known.compare_exchange_strong(seen, lock, std::memory_order_relaxed)) {
        return lock;
      }
      if (seen == lock) return lock;
    }
    return 0;
  }

  void add(const LockWait& wait, Nanoseconds waited) noexcept {
    std::size_t place = hash(wait) % kMaxKinds;
    for (std::size_t probe = 0; probe < kMaxProbes; ++probe, place = (place + 1) % kMaxKinds) {
      Entry& entry = entries_[place];
      State state = entry.state.load(std::memory_order_acquire);
      if (state == State::kFree &&
          entry.state.compare_exchange_strong(state, State::kClaimed, std::memory_order_acquire)) {
        entry.wait = wait;
        entry.state.store(state = State::kReady, std::memory_order_release);
      }
      // While another thread fills an entry with the same kind, this one uses the next. Readers add
      // them up.
      if (state != State::kReady || !(entry.wait == wait)) continue;
      entry.waited.fetch_add(waited, std::memory_order_relaxed);
      entry.waits.fetch_add(1, std::memory_order_relaxed);
      return;
    }
  }

  // Calls visit(const LockWait&, std::uint64_t waits, Nanoseconds waited) for each kind, perhaps
  // more than once.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (const Entry& entry : entries_) {
      if (entry.state.load(std::memory_order_acquire) != State::kReady) continue;
      visit(entry.wait, entry.waits.load(std::memory_order_relaxed),
            entry.waited.load(std::memory_order_relaxed));
    }
  }

 private:
  static constexpr std::size_t kMaxProbes = 64;

  enum class State : std::uint32_t { kFree, kClaimed, kReady };
  struct Entry {
    std::atomic<State> state{State::kFree};
    LockWait wait;  // written once, before it is ready
    std::atomic<std::uint64_t> waits{0};
    std::atomic<Nanoseconds> waited{0};
  };

  static std::size_t hash(const LockWait& wait) noexcept {
    return (wait.lock * 0x9e3779b97f4a7c15U ^ wait.taken_at * 0xc2b2ae3d27d4eb4fU ^
            wait.target * 0x165667b19e3779f9U) >>
           40;
  }

  std::array<Entry, kMaxKinds> entries_{};
  std::array<std::atomic<std::uintptr_t>, kMaxUnnamed> unnamed_{};
};

}  // namespace coz

#endif  // LIBCOZ_TARGET_LOCK_WAITS_H
