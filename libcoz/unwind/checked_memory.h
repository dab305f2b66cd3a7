// Reads memory that may not be there: addresses that an unwind table led to.
//
// Unwind tables are not right at every instruction: while the C++ runtime hands over to the handler
// of an exception it writes new registers over the saved ones; hand-written assembly often has no
// table, or a wrong one. What they lead to is asked of the kernel, once for each page.
//
// Signal-safe. One thread; one walk, since what is mapped may change between two.
#ifndef LIBCOZ_UNWIND_CHECKED_MEMORY_H
#define LIBCOZ_UNWIND_CHECKED_MEMORY_H

#include <array>
#include <cstddef>
#include <cstdint>

namespace coz {

class CheckedMemory {
 public:
  // False where nothing is readable there; `out` is then as it was.
  bool read_word(std::uintptr_t address, std::uintptr_t& out) noexcept {
    return read(address, &out, sizeof out);
  }

  // `size`: of a page at most.
  bool read(std::uintptr_t address, void* out, std::size_t size) noexcept;

  // How often the kernel was asked.
  std::uint32_t asked() const noexcept { return asked_; }

 private:
  static constexpr std::uintptr_t kPage = 4096;  // or larger, which a check of less is right for

  bool is_readable(std::uintptr_t page) noexcept;

  // Those found readable last, by turns: a stack, and perhaps another that it was entered from.
  std::array<std::uintptr_t, 4> pages_{};
  std::uint32_t next_ = 0;
  std::uint32_t asked_ = 0;
};

}  // namespace coz

#endif  // LIBCOZ_UNWIND_CHECKED_MEMORY_H
