#include "libheap/shuffler.h"

#include <algorithm>
#include <utility>

namespace coz::heap {
namespace {

// Not 0, which means: not known yet.
constexpr std::uint16_t kNotShuffled = 0xFFFF;
// An allocator may make a single block larger than others, where a rest would be too small to be
// one.
constexpr int kLooks = 8;

}  // namespace

std::size_t Sizes::size_of(std::size_t request, const Allocator& base) noexcept {
  const std::size_t grains = std::max<std::size_t>(1, (request + kGrain - 1) / kGrain);
  std::uint16_t size = sizes_[grains].load(std::memory_order_relaxed);
  if (size == 0) {
    size = learn(grains, base);
    sizes_[grains].store(size, std::memory_order_relaxed);
  }
  return size == kNotShuffled ? 0 : size;
}

std::uint16_t Sizes::learn(std::size_t grains, const Allocator& base) noexcept {
  void* blocks[kLooks];
  std::size_t least = ~std::size_t{0};
  bool is_short = false;
  for (void*& block : blocks) {
    block = base.malloc(grains * kGrain);
    is_short |= block == nullptr;
    if (block != nullptr) least = std::min(least, base.usable_size(block) / kGrain);
  }
  for (void* block : blocks) base.free(block);
  return is_short || least >= kSizes ? kNotShuffled : static_cast<std::uint16_t>(least);
}

void* Shuffler::allocate(std::size_t request, std::uint32_t number, const Allocator& base,
                         Sizes& sizes, RandomNumbers& random) noexcept {
  const std::size_t size = sizes.size_of(request, base);
  if (size == 0) return base.malloc(request);
  if (arrays_[size] == nullptr) arrays_[size] = fill(size, number, base, random);
  void* block = base.malloc(size * kGrain);
  if (block == nullptr || arrays_[size] == nullptr) return block;
  return std::exchange(arrays_[size][random.below(number)], block);
}

void Shuffler::release(void* block, std::size_t usable, std::uint32_t number, const Allocator& base,
                       RandomNumbers& random) noexcept {
  const std::size_t size = usable / kGrain;
  if (size < kSizes && arrays_[size] != nullptr)
    block = std::exchange(arrays_[size][random.below(number)], block);
  base.free(block);
}

void Shuffler::clear(std::uint32_t number, const Allocator& base) noexcept {
  for (void**& array : arrays_) {
    if (array == nullptr) continue;
    for (std::uint32_t i = 0; i < number; ++i) base.free(array[i]);
    base.free(static_cast<void*>(std::exchange(array, nullptr)));
  }
}

void** Shuffler::fill(std::size_t size, std::uint32_t number, const Allocator& base,
                      RandomNumbers& random) noexcept {
  auto** array = static_cast<void**>(base.malloc(number * sizeof(void*)));
  if (array == nullptr) return nullptr;
  for (std::uint32_t i = 0; i < number; ++i) {
    array[i] = base.malloc(size * kGrain);
    if (array[i] != nullptr) continue;
    while (i > 0) base.free(array[--i]);
    base.free(static_cast<void*>(array));
    return nullptr;
  }
  for (std::uint32_t i = number - 1; i > 0; --i) std::swap(array[i], array[random.below(i + 1)]);
  return array;
}

}  // namespace coz::heap
