// All progress points of the process, by kind and name.
//
// Any thread may call find_or_add(), but not in a signal handler; it takes a spin lock for a few
// string comparisons. Points are never removed, so that a pointer to one stays valid.
#ifndef LIBCOZ_PROGRESS_POINT_REGISTRY_H
#define LIBCOZ_PROGRESS_POINT_REGISTRY_H

#include <array>
#include <atomic>
#include <cstdint>

#include "kernel/shared_lock.h"
#include "progress/point.h"

namespace coz {

class PointRegistry {
 public:
  static constexpr std::uint32_t kMaxPoints = 512;

  // nullptr if the registry is full. A longer name is cut at Point::kMaxName − 1 bytes.
  Point* find_or_add(PointKind kind, const char* name) noexcept;
  Point* find(PointKind kind, const char* name) noexcept;

  // True for the first caller only: one to whom find_or_add() has given no point.
  bool is_first_refused() noexcept { return !was_full_.exchange(true, std::memory_order_relaxed); }

  // From now on load is amplified at arrival points or, if there are none, at begin points. While
  // no other thread uses the registry.
  void amplify() noexcept;
  // In a forked child, which has no other thread: a thread of the parent may have held the lock.
  void release_lock() noexcept { adding_.unlock(); }
  // Forgets the visits of all points. While no thread visits them.
  void forget_visits() noexcept;
  // True if a visit of `point` is the arrival of a request, to be sped up.
  bool is_arrival(const Point& point) const noexcept {
    return point.may_amplify && (point.kind == PointKind::kArrival ||
                                 !has_arrival_point_.load(std::memory_order_relaxed));
  }

  std::uint32_t size() const noexcept { return size_.load(std::memory_order_acquire); }
  Point& operator[](std::uint32_t index) noexcept { return points_[index]; }

 private:
  std::array<Point, kMaxPoints> points_{};
  std::atomic<std::uint32_t> size_{0};
  SharedLock adding_;
  std::atomic<bool> has_arrival_point_{false};
  std::atomic<bool> was_full_{false};
  bool amplifies_ = false;
};

}  // namespace coz

#endif  // LIBCOZ_PROGRESS_POINT_REGISTRY_H
