// The program's own allocator, which all blocks come from: the one behind this library, be it
// libc's or another.
#ifndef LIBHEAP_ALLOCATOR_H
#define LIBHEAP_ALLOCATOR_H

#include <cstddef>

namespace coz::heap {

// Its functions, with the contract that the C library gives them. Any thread.
struct Allocator {
  void* (*malloc)(std::size_t);
  void (*free)(void*);
  void* (*calloc)(std::size_t, std::size_t);
  void* (*realloc)(void*, std::size_t);
  void* (*aligned_alloc)(std::size_t, std::size_t);
  int (*posix_memalign)(void**, std::size_t, std::size_t);
  // Bytes of a block that may be used: at least as many as were asked for.
  std::size_t (*usable_size)(void*);
};

}  // namespace coz::heap

#endif  // LIBHEAP_ALLOCATOR_H
