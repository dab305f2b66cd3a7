#include "libheap/offset_blocks.h"

#include <cerrno>
#include <cstring>

namespace coz::heap {
namespace {

char* at(void* start, std::size_t distance) noexcept {
  return static_cast<char*>(start) + distance;
}

bool is_too_large(std::size_t bytes) noexcept { return bytes > PTRDIFF_MAX - kRoom; }

}  // namespace

bool OffsetBlocks::fits(const void* start, std::size_t distance) noexcept {
  return (reinterpret_cast<std::uintptr_t>(start) + distance) % kPage >= sizeof(Mark);
}

void* OffsetBlocks::place(void* start, std::size_t distance) const noexcept {
  void* block = at(start, distance);
  *mark_of(block) = {start, secret_ ^ reinterpret_cast<std::uintptr_t>(block)};
  return block;
}

void* OffsetBlocks::allocate(std::size_t bytes, bool zero, const Allocator& base,
                             RandomNumbers& random) const noexcept {
  if (is_too_large(bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  void* start = zero ? base.calloc(1, bytes + kRoom) : base.malloc(bytes + kRoom);
  if (start == nullptr) return nullptr;
  std::size_t distance = 0;
  do {
    distance = kLine * (1 + random.below(kPage / kLine));
  } while (!fits(start, distance));
  return place(start, distance);
}

void OffsetBlocks::release(void* block, const Allocator& base) const noexcept {
  Mark& mark = *mark_of(block);
  void* start = mark.start;
  // A later block may begin at the same address.
  mark = {};
  base.free(start);
}

std::size_t OffsetBlocks::usable_size(void* block, const Allocator& base) noexcept {
  void* start = mark_of(block)->start;
  return base.usable_size(start) -
         static_cast<std::size_t>(static_cast<char*>(block) - static_cast<char*>(start));
}

void* OffsetBlocks::resize(void* block, std::size_t bytes, const Allocator& base) const noexcept {
  if (is_too_large(bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  Mark& mark = *mark_of(block);
  const Mark before = mark;
  const auto distance =
      static_cast<std::size_t>(static_cast<char*>(block) - static_cast<char*>(before.start));
  // Memory that the allocator gives up for the move must not keep the mark.
  mark = {};
  void* start = base.realloc(before.start, bytes + kRoom);
  if (start == nullptr) {
    mark = before;
    return nullptr;
  }
  if (fits(start, distance)) return place(start, distance);
  const std::size_t other = distance > kLine ? distance - kLine : distance + kLine;
  std::memmove(at(start, other), at(start, distance), bytes);
  return place(start, other);
}

}  // namespace coz::heap
