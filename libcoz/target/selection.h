// The selection: the targets (targets.h) that are virtually sped up now, each by its own amount.
// There is at most one *main* target; in a combined window others, its *companions*, come besides.
// The experimenter writes it, every sample reads it.
//
// One writer; any number of readers, also in signal handlers. A reader gets a selection that was in
// force as a whole, or none. Nothing allocates, locks or fails.
#ifndef LIBCOZ_TARGET_SELECTION_H
#define LIBCOZ_TARGET_SELECTION_H

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "common/clock.h"

namespace coz {

inline constexpr std::uint32_t kNoTarget = 0xffffffffU;

// A target with what a sample in it costs: d = speedup × period, less than 2^32 ns.
struct SelectedTarget {
  std::uint32_t target = kNoTarget;
  Nanoseconds delay = 0;
};

// What a thread is charged for a time in targets that cost `delay` for each period. The product
// may not fit into 64 bits: one selection may last for the whole run.
constexpr Nanoseconds charge_for(Nanoseconds line_time, Nanoseconds delay,
                                 Nanoseconds period) noexcept {
  __extension__ using Wide = __int128;
  return static_cast<Nanoseconds>(static_cast<Wide>(line_time) * delay / period);
}

// The main target; kNoTarget if there are only companions.
struct Selection {
  std::uint32_t target = kNoTarget;
  Nanoseconds delay = 0;
  std::uint32_t epoch = 0;  // 0: nothing is selected
};

class SelectionCell {
 public:
  // Further ones are left out.
  static constexpr std::size_t kMaxCompanions = 512;

  // A companion with a delay of 0 is selected, too: it is followed, and costs nothing.
  void select(std::uint32_t target, Nanoseconds delay,
              std::span<const SelectedTarget> companions = {}) noexcept {
    clear();
    target_.store(target, std::memory_order_relaxed);
    delay_.store(delay, std::memory_order_relaxed);
    set_companions(companions.first(std::min(companions.size(), kMaxCompanions)));
    if (++last_epoch_ == 0) ++last_epoch_;
    epoch_.store(last_epoch_, std::memory_order_release);
  }

  void clear() noexcept {
    epoch_.store(0, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
  }

  Selection get() const noexcept {
    const std::uint32_t epoch = epoch_.load(std::memory_order_acquire);
    if (epoch == 0) return {};
    const Selection seen{target_.load(std::memory_order_relaxed),
                         delay_.load(std::memory_order_relaxed), epoch};
    return is_in_force(epoch) ? seen : Selection{};
  }

  // True in a combined window.
  bool has_companions() const noexcept { return has_companions_.load(std::memory_order_relaxed); }

  // What a sample in `target` costs; nullopt if it is not among what `selection` selects, or if
  // that is no longer in force.
  std::optional<Nanoseconds> delay_of(std::uint32_t target,
                                      const Selection& selection) const noexcept {
    if (selection.epoch == 0 || target == kNoTarget) return std::nullopt;
    if (target == selection.target) return selection.delay;
    if (!has_companions_.load(std::memory_order_relaxed)) return std::nullopt;
    std::size_t place = place_of(target);
    for (std::size_t i = 0; i < kPlaces; ++i, place = (place + 1) % kPlaces) {
      const std::uint64_t found = companions_[place].load(std::memory_order_relaxed);
      if (found == 0) return std::nullopt;
      if (found >> 32 != target + std::uint64_t{1}) continue;
      if (!is_in_force(selection.epoch)) return std::nullopt;
      return static_cast<Nanoseconds>(found & 0xffffffffU);
    }
    return std::nullopt;
  }

 private:
  // A hash table that is at most half full.
  static constexpr std::size_t kPlaceBits = 10;
  static constexpr std::size_t kPlaces = std::size_t{1} << kPlaceBits;
  static_assert(kPlaces >= 2 * kMaxCompanions);

  static std::size_t place_of(std::uint32_t target) noexcept {
    return (target * 0x9e3779b1U) >> (32 - kPlaceBits);
  }

  bool is_in_force(std::uint32_t epoch) const noexcept {
    std::atomic_thread_fence(std::memory_order_acquire);
    return epoch_.load(std::memory_order_relaxed) == epoch;
  }

  void set_companions(std::span<const SelectedTarget> companions) noexcept {
    if (companions.empty() && !has_companions_.load(std::memory_order_relaxed)) return;
    for (auto& place : companions_) place.store(0, std::memory_order_relaxed);
    for (const SelectedTarget& companion : companions) {
      std::size_t place = place_of(companion.target);
      while (companions_[place].load(std::memory_order_relaxed) != 0) place = (place + 1) % kPlaces;
      companions_[place].store(
          (companion.target + std::uint64_t{1}) << 32 | static_cast<std::uint32_t>(companion.delay),
          std::memory_order_relaxed);
    }
    has_companions_.store(!companions.empty(), std::memory_order_relaxed);
  }

  std::atomic<std::uint32_t> epoch_{0};
  std::atomic<std::uint32_t> target_{kNoTarget};
  std::atomic<Nanoseconds> delay_{0};
  std::atomic<bool> has_companions_{false};
  std::uint32_t last_epoch_ = 0;
  // Target + 1 in the upper half, the delay in the lower; 0: free.
  std::array<std::atomic<std::uint64_t>, kPlaces> companions_{};
};

}  // namespace coz

#endif  // LIBCOZ_TARGET_SELECTION_H
