#include "progress/point_registry.h"

#include <cstring>

namespace coz {

namespace {

bool may_arrive(PointKind kind) noexcept {
  return kind == PointKind::kArrival || kind == PointKind::kBegin;
}

}  // namespace

void PointRegistry::amplify() noexcept {
  amplifies_ = true;
  for (std::uint32_t i = 0; i < size(); ++i) points_[i].may_amplify = may_arrive(points_[i].kind);
}

void PointRegistry::forget_visits() noexcept {
  for (std::uint32_t i = 0; i < size(); ++i) points_[i].forget_visits();
}

Point* PointRegistry::find(PointKind kind, const char* name) noexcept {
  const std::uint32_t size = this->size();
  for (std::uint32_t i = 0; i < size; ++i) {
    Point& point = points_[i];
    if (point.kind == kind && std::strncmp(point.name, name, Point::kMaxName - 1) == 0) {
      return &point;
    }
  }
  return nullptr;
}

Point* PointRegistry::find_or_add(PointKind kind, const char* name) noexcept {
  adding_.lock();
  Point* point = find(kind, name);
  const std::uint32_t size = size_.load(std::memory_order_relaxed);
  if (point == nullptr && size < kMaxPoints) {
    point = &points_[size];
    point->kind = kind;
    point->number = size;
    std::strncpy(point->name, name, Point::kMaxName - 1);
    point->may_amplify = amplifies_ && may_arrive(kind);
    if (kind == PointKind::kArrival) has_arrival_point_.store(true, std::memory_order_relaxed);
    size_.store(size + 1, std::memory_order_release);
  }
  adding_.unlock();
  return point;
}

}  // namespace coz
