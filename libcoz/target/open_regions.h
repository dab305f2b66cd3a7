// The regions that a thread is in: it may be in several, one inside the other, and in the same one
// more than once.
//
// begin() and end() are for the thread; its signal handler may call the rest, also while it
// interrupts one of the two: it then sees the regions as before or after. Nothing allocates, locks
// or fails.
#ifndef LIBCOZ_TARGET_OPEN_REGIONS_H
#define LIBCOZ_TARGET_OPEN_REGIONS_H

#include <array>
#include <atomic>
#include <cstdint>

namespace coz {

class OpenRegions {
 public:
  // How many different ones are kept. Others are only counted, so that their ends match.
  static constexpr std::uint32_t kMaxDepth = 16;

  // A region that is entered again, as by recursion, takes no room.
  void begin(std::uint32_t region) noexcept {
    changed();
    const std::uint32_t depth = depth_.load(std::memory_order_relaxed);
    const std::uint32_t i = place_of(region);
    if (i < depth) {
      ++entries_[i];
      return;
    }
    if (depth == kMaxDepth) {
      ++beyond_;
      return;
    }
    regions_[depth].store(region, std::memory_order_relaxed);
    entries_[depth] = 1;
    std::atomic_signal_fence(std::memory_order_release);
    depth_.store(depth + 1, std::memory_order_relaxed);
  }

  // Ends may come in any order. An end without a beginning changes nothing.
  void end(std::uint32_t region) noexcept {
    changed();
    const std::uint32_t depth = depth_.load(std::memory_order_relaxed);
    const std::uint32_t i = place_of(region);
    if (i == depth) {
      if (beyond_ > 0) --beyond_;
      return;
    }
    if (--entries_[i] > 0) return;
    // The later ones move down. Meanwhile a handler may see one of them twice, which counts once.
    for (std::uint32_t j = i; j + 1 < depth; ++j) {
      regions_[j].store(regions_[j + 1].load(std::memory_order_relaxed), std::memory_order_relaxed);
      entries_[j] = entries_[j + 1];
    }
    std::atomic_signal_fence(std::memory_order_release);
    depth_.store(depth - 1, std::memory_order_relaxed);
  }

  void clear() noexcept {
    depth_.store(0, std::memory_order_relaxed);
    beyond_ = 0;
  }

  // Differs from what it was if the thread has entered or left a region since.
  std::uint32_t changes() const noexcept { return changes_.load(std::memory_order_relaxed); }

  bool is_empty() const noexcept { return depth_.load(std::memory_order_relaxed) == 0; }
  bool holds(std::uint32_t region) const noexcept {
    bool found = false;
    for_each([&](std::uint32_t open) { found = found || open == region; });
    return found;
  }

  // Each once.
  template <typename Visit>
  void for_each(Visit visit) const noexcept {
    const std::uint32_t depth = depth_.load(std::memory_order_relaxed);
    for (std::uint32_t i = 0; i < depth; ++i) {
      const std::uint32_t region = regions_[i].load(std::memory_order_relaxed);
      bool is_new = true;
      for (std::uint32_t j = 0; j < i; ++j) {
        is_new = is_new && regions_[j].load(std::memory_order_relaxed) != region;
      }
      if (is_new) visit(region);
    }
  }

 private:
  void changed() noexcept {
    changes_.store(changes_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_release);
  }

  // The number of those that are kept if it is not among them.
  std::uint32_t place_of(std::uint32_t region) const noexcept {
    const std::uint32_t depth = depth_.load(std::memory_order_relaxed);
    std::uint32_t i = 0;
    while (i < depth && regions_[i].load(std::memory_order_relaxed) != region) ++i;
    return i;
  }

  std::array<std::atomic<std::uint32_t>, kMaxDepth> regions_{};
  std::array<std::uint32_t, kMaxDepth> entries_{};  // how often the thread is in each
  std::atomic<std::uint32_t> depth_{0};
  std::atomic<std::uint32_t> changes_{0};
  std::uint32_t beyond_ = 0;
};

}  // namespace coz

#endif  // LIBCOZ_TARGET_OPEN_REGIONS_H
