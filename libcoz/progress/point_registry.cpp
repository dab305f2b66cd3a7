#include "progress/point_registry.h"

#include <cstring>

namespace coz {

Point* PointRegistry::find(PointKind kind, const char* name) noexcept {
  const std::uint32_t size = this->size();
  for (std::uint32_t i = 0; i < size; ++i) {
    Point& point = points_[i];
    if (point.kind == kind && std::strncmp(point.name, name, Point::kMostName - 1) == 0) {
      return &point;
    }
  }
  return nullptr;
}

Point* PointRegistry::find_or_add(PointKind kind, const char* name) noexcept {
  while (adding_.test_and_set(std::memory_order_acquire)) {
  }
  Point* point = find(kind, name);
  const std::uint32_t size = size_.load(std::memory_order_relaxed);
  if (point == nullptr && size < kMostPoints) {
    point = &points_[size];
    point->kind = kind;
    std::strncpy(point->name, name, Point::kMostName - 1);
    point->may_amplify = amplifies_ && (kind == PointKind::kArrival || kind == PointKind::kBegin);
    if (kind == PointKind::kArrival) has_arrival_point_.store(true, std::memory_order_relaxed);
    size_.store(size + 1, std::memory_order_release);
  }
  adding_.clear(std::memory_order_release);
  return point;
}

}  // namespace coz
