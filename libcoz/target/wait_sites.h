// Where threads wait for a lock or for something outside the program, by number: a *wait site* is
// the line (or, as --granularity says, the function) that makes a call which waits. With
// --wait-classes, all calls of a class are one site. A line that waits for a lock and for something
// else is two.
//
// A table of fixed size, which any thread fills and reads; lock-free and signal-safe. When it is
// full, further sites have no number.
#ifndef LIBCOZ_TARGET_WAIT_SITES_H
#define LIBCOZ_TARGET_WAIT_SITES_H

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "common/clock.h"
#include "symbols/modules.h"

namespace coz {

// What a call waits for. Reading and writing are kIo, whatever the descriptor is.
enum class WaitClass : std::uint32_t { kIo, kNetwork, kPoll, kSleep, kChild, kLock };
inline constexpr std::array kWaitClassNames = {"io", "network", "poll", "sleep", "child", "lock"};

class WaitSites {
 public:
  static constexpr std::uint32_t kMaxSites = 512;

  struct Site {
    std::uint32_t id = 0;  // of the line or function
    std::uint32_t function = kNoFunction;
    bool is_lock = false;
  };

  // Sites of lines or functions come after one for each class.
  static std::uint32_t of_class(WaitClass wait_class) noexcept {
    return static_cast<std::uint32_t>(wait_class);
  }
  static bool is_class(std::uint32_t site) noexcept { return site < kWaitClassNames.size(); }

  // The site of the line or function `id`; nullopt when the table is full.
  std::optional<std::uint32_t> find_or_add(std::uint32_t id, std::uint32_t function,
                                           bool is_lock = false) noexcept {
    std::uint32_t place = id % kPlaces;
    for (std::uint32_t probe = 0; probe < kPlaces; ++probe, place = (place + 1) % kPlaces) {
      Entry& entry = entries_[place];
      std::uint64_t seen = entry.key.load(std::memory_order_acquire);
      const std::uint64_t key = key_of(id, is_lock);
      if (seen == 0 && entry.key.compare_exchange_strong(seen, key, std::memory_order_acq_rel)) {
        entry.function.store(function, std::memory_order_release);
        seen = key;
      }
      if (seen == key) return place + kClasses;
    }
    return std::nullopt;
  }

  // nullopt if there is no such site, or it is one of a class.
  std::optional<Site> get(std::uint32_t site) const noexcept {
    if (site < kClasses || site >= kMaxSites) return std::nullopt;
    const Entry& entry = entries_[site - kClasses];
    const std::uint64_t key = entry.key.load(std::memory_order_acquire);
    if (key == 0) return std::nullopt;
    return Site{static_cast<std::uint32_t>((key >> 1) - 1),
                entry.function.load(std::memory_order_acquire), (key & 1) != 0};
  }

  std::optional<std::uint32_t> find(std::uint32_t id, bool is_lock = false) const noexcept {
    for (std::uint32_t site = kClasses; site < kMaxSites; ++site) {
      const auto found = get(site);
      if (found && found->id == id && found->is_lock == is_lock) return site;
    }
    return std::nullopt;
  }

  // A thread has waited there. Returns how many periods more are full.
  std::uint32_t add(std::uint32_t site, Nanoseconds waited, Nanoseconds period) noexcept {
    const Nanoseconds before = waited_[site].fetch_add(waited, std::memory_order_relaxed);
    return static_cast<std::uint32_t>((before + waited) / period - before / period);
  }

 private:
  static constexpr std::uint32_t kClasses = kWaitClassNames.size();
  static constexpr std::uint32_t kPlaces = kMaxSites - kClasses;

  static std::uint64_t key_of(std::uint32_t id, bool is_lock) noexcept {
    return (std::uint64_t{id} + 1) << 1 | (is_lock ? 1 : 0);
  }

  struct Entry {
    std::atomic<std::uint64_t> key{0};  // key_of(); 0: free
    std::atomic<std::uint32_t> function{kNoFunction};
  };

  std::array<Entry, kPlaces> entries_{};
  std::array<std::atomic<Nanoseconds>, kMaxSites> waited_{};
};

}  // namespace coz

#endif  // LIBCOZ_TARGET_WAIT_SITES_H
