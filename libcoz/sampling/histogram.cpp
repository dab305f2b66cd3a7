#include "sampling/histogram.h"

#include <algorithm>

#include "kernel/zeroed_memory.h"
#include "symbols/modules.h"
#include "target/selection.h"

namespace coz {

Histogram::~Histogram() {
  unmap(cells_, sizeof(Cell) * room_);
  unmap(seen_, sizeof(*seen_) * kMaxSeen);
}

bool Histogram::reserve(std::uint32_t target_count, std::uint32_t later, Sharing sharing) noexcept {
  const std::uint32_t usable = std::max(target_count, 1U);
  room_ = std::max(usable + later, usable);
  cells_ = static_cast<Cell*>(reserve_zeroed(sizeof(Cell) * room_, sizeof(Cell) * usable, sharing));
  if (cells_ == nullptr && room_ > usable) {
    // Where address space is limited: without more.
    room_ = usable;
    cells_ = static_cast<Cell*>(map_zeroed(sizeof(Cell) * room_, sharing));
  }
  seen_ = static_cast<std::atomic<std::uint32_t>*>(map_zeroed(sizeof(*seen_) * kMaxSeen, sharing));
  target_count_.store(target_count, std::memory_order_release);
  return cells_ != nullptr && seen_ != nullptr;
}

bool Histogram::reserve(std::uint32_t target_count, SharedFile& joint) noexcept {
  room_ = std::max(target_count, 1U);
  auto* totals = static_cast<Totals*>(joint.map_next(sizeof(Totals)));
  cells_ = static_cast<Cell*>(joint.map_next(sizeof(Cell) * room_));
  seen_ = static_cast<std::atomic<std::uint32_t>*>(joint.map_next(sizeof(*seen_) * kMaxSeen));
  target_count_.store(target_count, std::memory_order_release);
  if (totals == nullptr || cells_ == nullptr || seen_ == nullptr) return false;
  totals_ = totals;
  return true;
}

bool Histogram::grow(std::uint32_t target_count) noexcept {
  if (target_count <= target_count_.load(std::memory_order_relaxed)) return true;
  if (target_count > room_ || !extend_zeroed(cells_, sizeof(Cell) * target_count)) return false;
  target_count_.store(target_count, std::memory_order_release);
  return true;
}

void Histogram::add(std::uint32_t target, std::uint32_t function, std::uint32_t samples) noexcept {
  if (!is_target(target)) return;
  if (cells_[target].samples.fetch_add(samples, std::memory_order_relaxed) > 0) return;
  cells_[target].function.store(function, std::memory_order_relaxed);
  const std::uint32_t index = totals_->seen.fetch_add(1, std::memory_order_relaxed);
  if (index < kMaxSeen) seen_[index].store(target + 1, std::memory_order_release);
}

void Histogram::count_waits(std::uint32_t target, std::uint32_t periods) noexcept {
  totals_->waits.fetch_add(periods, std::memory_order_relaxed);
  add(target, kNoFunction, periods);
}

std::uint64_t Histogram::of(std::uint32_t target) const noexcept {
  return is_target(target) ? cells_[target].samples.load(std::memory_order_relaxed) : 0;
}

std::uint32_t Histogram::function_of(std::uint32_t target) const noexcept {
  return is_target(target) ? cells_[target].function.load(std::memory_order_relaxed) : 0;
}

std::uint32_t Histogram::seen_count() const noexcept {
  return std::min(totals_->seen.load(std::memory_order_relaxed), kMaxSeen);
}

std::uint32_t Histogram::seen(std::uint32_t index) const noexcept {
  const std::uint32_t entry = seen_[index].load(std::memory_order_acquire);
  return entry == 0 ? kNoTarget : entry - 1;
}

}  // namespace coz
