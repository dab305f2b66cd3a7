// The heap as the program sees it: shuffled, offset and zeroed as the settings say, over its own
// allocator.
//
// A Heap is shared by all threads and has no locks; what changes is in the caller's ThreadHeap. So
// nothing is held across fork. Functions keep the contracts of malloc(3) and its relatives, errno
// too.
#ifndef LIBHEAP_HEAP_H
#define LIBHEAP_HEAP_H

#include <cstddef>
#include <cstdint>

#include "libheap/allocator.h"
#include "libheap/offset_blocks.h"
#include "libheap/random_numbers.h"
#include "libheap/settings.h"
#include "libheap/shuffler.h"

namespace coz::heap {

// A thread's own part. `is_direct`: its calls go to the allocator as they are: while one is under
// way, and once the thread has ended.
struct ThreadHeap {
  RandomNumbers random;
  Shuffler shuffler;
  bool is_begun = false;
  bool is_direct = false;
};

class Heap {
 public:
  // `secret`: marks offset blocks.
  constexpr Heap(const Allocator& base, const Settings& settings, std::uint64_t secret) noexcept
      : base_(base), settings_(settings), offsets_(secret) {}

  void* allocate(std::size_t bytes, ThreadHeap& thread) noexcept;
  // Zeros; the caller has seen to it that the product does not overflow.
  void* allocate_zeros(std::size_t bytes, ThreadHeap& thread) noexcept;
  void release(void* block, ThreadHeap& thread) noexcept;
  void* resize(void* block, std::size_t bytes, ThreadHeap& thread) noexcept;
  std::size_t usable_size(void* block) noexcept;
  // After an aligned block was allocated, which comes from the allocator as it is.
  void* prepared(void* block, std::size_t bytes) noexcept;
  // At the end of a thread.
  void clear(ThreadHeap& thread) noexcept;

 private:
  bool is_offset(const void* block) const noexcept {
    return settings_.offset && offsets_.is_one(block);
  }
  bool is_shuffled(std::size_t bytes) const noexcept {
    return settings_.shuffle > 0 && bytes <= kMaxSmall;
  }
  void* resize_in_place(void* block, std::size_t bytes) noexcept;

  Allocator base_;
  Settings settings_;
  OffsetBlocks offsets_;
  Sizes sizes_;
};

}  // namespace coz::heap

#endif  // LIBHEAP_HEAP_H
