#include "sample/histogram.h"

#include <sys/mman.h>

#include <algorithm>

#include "delay/selection.h"

namespace coz {
namespace {

// Zeroed memory that costs nothing until it is touched.
void* map_zeroed(std::size_t bytes) noexcept {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

}  // namespace

Histogram::~Histogram() {
  if (cells_ != nullptr) munmap(cells_, sizeof(Cell) * std::max(target_count_, 1U));
  if (seen_ != nullptr) munmap(seen_, sizeof(*seen_) * kMostSeen);
}

bool Histogram::reserve(std::uint32_t target_count) noexcept {
  cells_ = static_cast<Cell*>(map_zeroed(sizeof(Cell) * std::max(target_count, 1U)));
  seen_ = static_cast<std::atomic<std::uint32_t>*>(map_zeroed(sizeof(*seen_) * kMostSeen));
  target_count_ = target_count;
  return cells_ != nullptr && seen_ != nullptr;
}

void Histogram::count(std::uint32_t target, std::uint32_t function) noexcept {
  if (target >= target_count_) return;
  if (cells_[target].samples.fetch_add(1, std::memory_order_relaxed) > 0) return;
  cells_[target].function.store(function, std::memory_order_relaxed);
  const std::uint32_t index = seen_count_.fetch_add(1, std::memory_order_relaxed);
  if (index < kMostSeen) seen_[index].store(target + 1, std::memory_order_release);
}

std::uint32_t Histogram::of(std::uint32_t target) const noexcept {
  return target < target_count_ ? cells_[target].samples.load(std::memory_order_relaxed) : 0;
}

std::uint32_t Histogram::function_of(std::uint32_t target) const noexcept {
  return target < target_count_ ? cells_[target].function.load(std::memory_order_relaxed) : 0;
}

std::uint32_t Histogram::seen_count() const noexcept {
  return std::min(seen_count_.load(std::memory_order_relaxed), kMostSeen);
}

std::uint32_t Histogram::seen(std::uint32_t index) const noexcept {
  const std::uint32_t entry = seen_[index].load(std::memory_order_acquire);
  return entry == 0 ? kNoTarget : entry - 1;
}

}  // namespace coz
