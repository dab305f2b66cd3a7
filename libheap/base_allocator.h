// Finds the allocator behind this library, and serves what is asked for while it looks.
//
// The dynamic linker may allocate when a name is looked up. Such blocks come from a small store,
// and stay there: is_early() tells them apart for ever.
#ifndef LIBHEAP_BASE_ALLOCATOR_H
#define LIBHEAP_BASE_ALLOCATOR_H

#include <cstddef>

#include "libheap/allocator.h"

namespace coz::heap {

// Null while it is being looked for. The first call, which comes before the program has a second
// thread, finds it.
const Allocator* base_allocator() noexcept;

void* allocate_early(std::size_t bytes) noexcept;
bool is_early(const void* block) noexcept;
std::size_t early_size(const void* block) noexcept;

// Why blocks of it cannot be told apart by their size: null if they can. `file`: the library that
// it is in.
const char* what_is_wrong(const char** file) noexcept;

}  // namespace coz::heap

#endif  // LIBHEAP_BASE_ALLOCATOR_H
