// Reads memory that may not be mapped: addresses that an unwind table led to.
//
// Unwind tables are not right at every instruction. While the C++ runtime hands an exception over
// to its handler, it overwrites the saved registers one by one; hand-written assembly often has no
// table, or a wrong one. So the kernel is asked about each page before it is read.
//
// Signal-safe. One object serves one thread and one walk, since what is mapped may change.
#ifndef LIBCOZ_UNWIND_CHECKED_MEMORY_H
#define LIBCOZ_UNWIND_CHECKED_MEMORY_H

#include <array>
#include <cstddef>
#include <cstdint>

namespace coz {

class CheckedMemory {
 public:
  // False if the memory there is not readable; `out` is then as it was.
  bool read_word(std::uintptr_t address, std::uintptr_t& out) noexcept {
    return read(address, &out, sizeof out);
  }

  // `size`: at most a page.
  bool read(std::uintptr_t address, void* out, std::size_t size) noexcept;

  // How often the kernel was asked.
  std::uint32_t asked() const noexcept { return asked_; }

 private:
  static constexpr std::uintptr_t kPage =
      4096;  // where pages are larger, it asks more often than it must

  bool is_readable(std::uintptr_t page) noexcept;

  // The pages found readable last: of a stack, and perhaps of another that it was entered from.
  std::array<std::uintptr_t, 4> pages_{};
  std::uint32_t next_ = 0;
  std::uint32_t asked_ = 0;
};

}  // namespace coz

#endif  // LIBCOZ_UNWIND_CHECKED_MEMORY_H
