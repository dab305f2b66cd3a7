// Big blocks at a random multiple of 64 bytes within a page.
//
// An allocator places a big block at the same offset in its page every time. Two of them then agree
// in the twelve lowest bits of their addresses, by which some processors tell loads from stores
// ("4K aliasing"): a program may be slow by that alone. So a block that is larger by a page is
// taken from the allocator, and what lies further within is given away. Before it stand a mark,
// made of its address and a secret, and the way back.
//
// Plain logic: no locks, no memory of its own. A mark is read only within the block's page, which
// is there.
#ifndef LIBHEAP_OFFSET_BLOCKS_H
#define LIBHEAP_OFFSET_BLOCKS_H

#include <cstddef>
#include <cstdint>

#include "libheap/allocator.h"
#include "libheap/random_numbers.h"

namespace coz::heap {

// From here on blocks get an offset. Below, it would cost more than a sixteenth of their memory.
inline constexpr std::size_t kBig = std::size_t{64} << 10;
inline constexpr std::size_t kPage = 4096;
inline constexpr std::size_t kLine = 64;
// What a block is larger by.
inline constexpr std::size_t kRoom = kPage + kLine;

class OffsetBlocks {
 public:
  constexpr OffsetBlocks() noexcept = default;
  explicit constexpr OffsetBlocks(std::uint64_t secret) noexcept : secret_(secret) {}

  // A block of at least kBig bytes; with `zero`, of zeros. Null if memory is short.
  void* allocate(std::size_t bytes, bool zero, const Allocator& base,
                 RandomNumbers& random) const noexcept;

  // What precedes another block is its allocator's: libc's keep a size there. AddressSanitizer
  // takes it for a mistake.
  [[gnu::no_sanitize("address")]] bool is_one(const void* block) const noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(block);
    if (address % kPage < sizeof(Mark)) return false;
    return mark_of(const_cast<void*>(block))->mark == (secret_ ^ address);
  }

  // For blocks of which is_one() holds.
  void release(void* block, const Allocator& base) const noexcept;
  static std::size_t usable_size(void* block, const Allocator& base) noexcept;
  // To at least kBig bytes. The contents move with it; so may the offset.
  void* resize(void* block, std::size_t bytes, const Allocator& base) const noexcept;

 private:
  struct Mark {
    void* start;
    std::uint64_t mark;
  };
  static_assert(sizeof(Mark) == 16);

  static Mark* mark_of(void* block) noexcept { return static_cast<Mark*>(block) - 1; }
  // Where in the page a mark has room before a block at that distance from `start`.
  static bool fits(const void* start, std::size_t distance) noexcept;
  void* place(void* start, std::size_t distance) const noexcept;

  std::uint64_t secret_ = 0;
};

}  // namespace coz::heap

#endif  // LIBHEAP_OFFSET_BLOCKS_H
