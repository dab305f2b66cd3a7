// Address space for tables of fixed capacity: zeroed memory that costs nothing until it is used.
//
// Any thread, not in signal handlers. On failure nullptr or false, with errno set.
#ifndef LIBCOZ_KERNEL_ZEROED_MEMORY_H
#define LIBCOZ_KERNEL_ZEROED_MEMORY_H

#include <sys/mman.h>

#include <cstddef>

namespace coz {

// Whether forked children share the memory with their parent, or get a copy.
enum class Sharing { kCopied, kShared };

inline void* map_zeroed(std::size_t bytes, Sharing sharing = Sharing::kCopied,
                        int protection = PROT_READ | PROT_WRITE) noexcept {
  const int kind = sharing == Sharing::kShared ? MAP_SHARED : MAP_PRIVATE;
  void* memory = mmap(nullptr, bytes, protection, kind | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

// The same, but only the first `usable` bytes can be used yet. The rest does not count as memory,
// not even on systems that do not overcommit.
inline void* reserve_zeroed(std::size_t bytes, std::size_t usable,
                            Sharing sharing = Sharing::kCopied) noexcept {
  void* memory = map_zeroed(bytes, sharing, PROT_NONE);
  if (memory == nullptr || mprotect(memory, usable, PROT_READ | PROT_WRITE) == 0) return memory;
  munmap(memory, bytes);
  return nullptr;
}

// Gives it back; nullptr is allowed.
inline void unmap(void* memory, std::size_t bytes) noexcept {
  if (memory != nullptr) munmap(memory, bytes);
}

// Makes more of it usable.
inline bool extend_zeroed(void* memory, std::size_t usable) noexcept {
  return mprotect(memory, usable, PROT_READ | PROT_WRITE) == 0;
}

}  // namespace coz

#endif  // LIBCOZ_KERNEL_ZEROED_MEMORY_H
