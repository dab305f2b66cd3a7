#include "libheap/heap.h"

#include <algorithm>
#include <cstring>

namespace coz::heap {
namespace {

// Calls that the work itself makes, of whatever kind, go to the allocator.
class Direct {
 public:
  explicit Direct(ThreadHeap& thread) noexcept : thread_(thread) { thread_.is_direct = true; }
  ~Direct() { thread_.is_direct = false; }
  Direct(const Direct&) = delete;
  Direct& operator=(const Direct&) = delete;

 private:
  ThreadHeap& thread_;
};

}  // namespace

void* Heap::allocate(std::size_t bytes, ThreadHeap& thread) noexcept {
  if (settings_.zero) return allocate_zeros(bytes, thread);
  if (settings_.offset && bytes >= kBig && !thread.is_direct)
    return offsets_.allocate(bytes, false, base_, thread.random);
  if (!is_shuffled(bytes) || thread.is_direct) return base_.malloc(bytes);
  const Direct direct(thread);
  return thread.shuffler.allocate(bytes, settings_.shuffle, base_, sizes_, thread.random);
}

void* Heap::allocate_zeros(std::size_t bytes, ThreadHeap& thread) noexcept {
  if (settings_.offset && bytes >= kBig && !thread.is_direct)
    return offsets_.allocate(bytes, true, base_, thread.random);
  if (!is_shuffled(bytes) || thread.is_direct) return base_.calloc(1, bytes);
  const Direct direct(thread);
  void* block = thread.shuffler.allocate(bytes, settings_.shuffle, base_, sizes_, thread.random);
  return block == nullptr ? nullptr : std::memset(block, 0, bytes);
}

void Heap::release(void* block, ThreadHeap& thread) noexcept {
  if (block == nullptr) return;
  if (settings_.zero) std::memset(block, 0, usable_size(block));
  if (is_offset(block)) return offsets_.release(block, base_);
  if (settings_.shuffle == 0 || thread.is_direct) return base_.free(block);
  const Direct direct(thread);
  thread.shuffler.release(block, base_.usable_size(block), settings_.shuffle, base_, thread.random);
}

void* Heap::resize(void* block, std::size_t bytes, ThreadHeap& thread) noexcept {
  if (block == nullptr) return allocate(bytes, thread);
  const bool was_offset = is_offset(block);
  if (bytes == 0) {
    if (!was_offset) {
      if (settings_.zero) std::memset(block, 0, usable_size(block));
      return base_.realloc(block, 0);
    }
    release(block, thread);
    return nullptr;
  }
  const std::size_t before = usable_size(block);
  if (bytes <= before && bytes > before / 2) return block;
  const bool is_offset_now = settings_.offset && bytes >= kBig;
  // The allocator would free what it moves as it is. Pages of big blocks it moves without freeing
  // them.
  const bool frees_unzeroed = settings_.zero && before < kBig;
  const bool is_moved =
      was_offset != is_offset_now || is_shuffled(bytes) || is_shuffled(before) || frees_unzeroed;
  if (!is_moved) return resize_in_place(block, bytes);
  void* moved = allocate(bytes, thread);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, block, std::min(before, bytes));
  release(block, thread);
  return moved;
}

// As the allocator does it, which may be without copying.
void* Heap::resize_in_place(void* block, std::size_t bytes) noexcept {
  const std::size_t before = usable_size(block);
  void* moved =
      is_offset(block) ? offsets_.resize(block, bytes, base_) : base_.realloc(block, bytes);
  if (moved == nullptr || !settings_.zero) return moved;
  const std::size_t after = usable_size(moved);
  if (after > before) std::memset(static_cast<char*>(moved) + before, 0, after - before);
  return moved;
}

std::size_t Heap::usable_size(void* block) noexcept {
  if (block == nullptr) return 0;
  return is_offset(block) ? OffsetBlocks::usable_size(block, base_) : base_.usable_size(block);
}

void* Heap::prepared(void* block, std::size_t bytes) noexcept {
  return settings_.zero && block != nullptr ? std::memset(block, 0, bytes) : block;
}

void Heap::clear(ThreadHeap& thread) noexcept {
  thread.is_direct = true;
  thread.shuffler.clear(settings_.shuffle, base_);
}

}  // namespace coz::heap
