// STABILIZER's shuffling layer (section 3.2 of the paper): small blocks come from random places.
//
// For each size there is an array of N blocks of the program's allocator. An allocation takes a new
// block, puts it in the place of a random one, and gives that away; a release does the same. Either
// is a step of Fisher and Yates's shuffle.
//
// A size is what the allocator says is usable of its block, so it works over any allocator, needs
// no headers, and any block may be released with or without this layer. A block of an array is at
// least as large as its size.
//
// One shuffler for each thread: arrays that threads share would give neighbours in a cache line to
// different threads. Not for several threads at a time, and not in signal handlers.
#ifndef LIBHEAP_SHUFFLER_H
#define LIBHEAP_SHUFFLER_H

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "libheap/allocator.h"
#include "libheap/random_numbers.h"

namespace coz::heap {

// Sizes are multiples of this.
inline constexpr std::size_t kGrain = 8;
// Larger blocks are not shuffled: the index bits of their addresses vary anyway. 1024 and libc's
// eight.
inline constexpr std::size_t kMaxSmall = 1032;
inline constexpr std::size_t kSizes = kMaxSmall / kGrain + 1;

// Which size, in grains, the allocator makes of a request. Learned from its blocks; shared by all
// threads.
class Sizes {
 public:
  // 0 if requests of that size are not shuffled: they yield blocks that are too large, or none.
  std::size_t size_of(std::size_t request, const Allocator& base) noexcept;

 private:
  static std::uint16_t learn(std::size_t grains, const Allocator& base) noexcept;

  std::atomic<std::uint16_t> sizes_[kSizes] = {};
};

class Shuffler {
 public:
  constexpr Shuffler() noexcept = default;

  // A block for a request of at most kMaxSmall bytes; null if memory is short.
  void* allocate(std::size_t request, std::uint32_t number, const Allocator& base, Sizes& sizes,
                 RandomNumbers& random) noexcept;

  // `usable`: of the block.
  void release(void* block, std::size_t usable, std::uint32_t number, const Allocator& base,
               RandomNumbers& random) noexcept;

  // Gives everything back.
  void clear(std::uint32_t number, const Allocator& base) noexcept;

 private:
  // An array of `number` shuffled blocks; null if memory is short.
  static void** fill(std::size_t size, std::uint32_t number, const Allocator& base,
                     RandomNumbers& random) noexcept;

  void** arrays_[kSizes] = {};
};

}  // namespace coz::heap

#endif  // LIBHEAP_SHUFFLER_H
