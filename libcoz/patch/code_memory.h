// Code of our own near the program's, and changes to the program's.
//
// Not for signal handlers; CodeMemory before main only. Pages are executable and not writable, but
// while something is written: other threads may be in a page of the program's, and we are
// ourselves.
#ifndef LIBCOZ_PATCH_CODE_MEMORY_H
#define LIBCOZ_PATCH_CODE_MEMORY_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace coz {

[[nodiscard]] std::uintptr_t page_size() noexcept;

// A single byte is written at once, more of them one after the other. False when the system does
// not allow it.
[[nodiscard]] bool write_code(std::uintptr_t address, const void* bytes, std::size_t size) noexcept;

// Memory for slots, each within a gigabyte of some code.
class CodeMemory {
 public:
  // One that is not in use; 0 when there is no memory near it. It is used after take().
  std::uintptr_t free_near(std::uintptr_t address);
  void take(std::uintptr_t slot) noexcept;

  // Signal-safe.
  [[nodiscard]] bool contains(std::uintptr_t address) const noexcept;

 private:
  // Slots that lie one behind the other.
  struct Block {
    std::uintptr_t begin = 0;
    std::size_t used = 0;
    std::size_t room = 0;
  };

  std::vector<Block> blocks_;
};

}  // namespace coz

#endif  // LIBCOZ_PATCH_CODE_MEMORY_H
