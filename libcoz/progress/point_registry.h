// All progress points of the process, by kind and name.
//
// find_or_add() may be called by any thread, not in a signal handler; a spin lock guards it,
// which is held for a few string comparisons (the calling thread's samples are deferred by the
// caller meanwhile). Points are never removed, so that a pointer to one stays good.
#ifndef LIBCOZ_PROGRESS_POINT_REGISTRY_H
#define LIBCOZ_PROGRESS_POINT_REGISTRY_H

#include <array>
#include <atomic>
#include <cstdint>

#include "progress/point.h"

namespace coz {

class PointRegistry {
 public:
  static constexpr std::uint32_t kMaxPoints = 512;

  // nullptr when the registry is full. A longer name is cut at Point::kMaxName − 1 bytes.
  Point* find_or_add(PointKind kind, const char* name) noexcept;
  Point* find(PointKind kind, const char* name) noexcept;

  // Load is amplified at arrival points; where there are none, at begin points. While no other
  // thread uses the registry.
  void amplify() noexcept;
  // In a forked child, in which no other thread is: one of the parent's may have been adding.
  void release_lock() noexcept { adding_.clear(); }
  // While nobody visits them: the points stay, as if nobody had.
  void forget_visits() noexcept;
  // Whether a visit of `point` is a request's arrival, to be sped up.
  bool is_arrival(const Point& point) const noexcept {
    return point.may_amplify && (point.kind == PointKind::kArrival ||
                                 !has_arrival_point_.load(std::memory_order_relaxed));
  }

  std::uint32_t size() const noexcept { return size_.load(std::memory_order_acquire); }
  Point& operator[](std::uint32_t index) noexcept { return points_[index]; }

 private:
  std::array<Point, kMaxPoints> points_{};
  std::atomic<std::uint32_t> size_{0};
  std::atomic_flag adding_ = ATOMIC_FLAG_INIT;
  std::atomic<bool> has_arrival_point_{false};
  bool amplifies_ = false;
};

}  // namespace coz

#endif  // LIBCOZ_PROGRESS_POINT_REGISTRY_H
