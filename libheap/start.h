// What the library does in this process, decided once, before main.
#ifndef LIBHEAP_START_H
#define LIBHEAP_START_H

#include <atomic>
#include <cstdint>

#include "libheap/heap.h"

namespace coz::heap {

// `heap`: null while, and where, the allocator serves the program as it is. The rest does not
// change afterwards.
struct Started {
  std::atomic<Heap*> heap = nullptr;
  std::uint64_t seed = 0;
  std::uint64_t stack_seed = 0;
  bool moves_stacks = false;
};

const Started& started() noexcept;

// Notes that the program's calls of malloc come here.
void note_call() noexcept;

// Makes what ends a thread's part; once, before there is a heap. In interpose.cpp.
void prepare_threads() noexcept;

}  // namespace coz::heap

#endif  // LIBHEAP_START_H
