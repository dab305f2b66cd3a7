// The selection: the target (targets.h) that is virtually sped up now, and by how much. The
// experimenter writes it, every sample reads it.
//
// One writer; any number of readers, also in signal handlers. A reader gets a selection that was in
// force as a whole, or none.
#ifndef LIBCOZ_TARGET_SELECTION_H
#define LIBCOZ_TARGET_SELECTION_H

#include <atomic>
#include <cstdint>

#include "common/clock.h"

namespace coz {

inline constexpr std::uint32_t kNoTarget = 0xffffffffU;

struct Selection {
  std::uint32_t target = kNoTarget;  // targets.h
  Nanoseconds delay = 0;             // d = speedup × period, for each sample
  std::uint32_t epoch = 0;           // 0: nothing is selected

  // What a thread is charged for a time in the target.
  Nanoseconds delay_for(Nanoseconds line_time, Nanoseconds period) const noexcept {
    return line_time * delay / period;  // times are at most seconds: no overflow
  }
};

class SelectionCell {
 public:
  void select(std::uint32_t target, Nanoseconds delay) noexcept {
    clear();
    target_.store(target, std::memory_order_relaxed);
    delay_.store(delay, std::memory_order_relaxed);
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
    std::atomic_thread_fence(std::memory_order_acquire);
    return epoch_.load(std::memory_order_relaxed) == epoch ? seen : Selection{};
  }

 private:
  std::atomic<std::uint32_t> epoch_{0};
  std::atomic<std::uint32_t> target_{kNoTarget};
  std::atomic<Nanoseconds> delay_{0};
  std::uint32_t last_epoch_ = 0;
};

}  // namespace coz

#endif  // LIBCOZ_TARGET_SELECTION_H
