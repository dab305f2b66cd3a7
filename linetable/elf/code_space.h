// Which addresses of debug information are code, and what they are in the table.
#ifndef LINETABLE_ELF_CODE_SPACE_H
#define LINETABLE_ELF_CODE_SPACE_H

#include <cstdint>
#include <limits>

#include "linetable/elf/elf_file.h"

namespace coz::linetable {

class CodeSpace {
 public:
  explicit CodeSpace(const ElfFile& binary) : binary_(binary), base_(binary.base_address()) {}

  [[nodiscard]] bool is_code(std::uint64_t address) const {
    return binary_.is_code(address) && fits(address);
  }

  // Whether the table, whose addresses have 32 bits, can hold `address`.
  [[nodiscard]] bool fits(std::uint64_t address) const {
    return address >= base_ && address - base_ < std::numeric_limits<std::uint32_t>::max();
  }

  // Only for an address that fits.
  [[nodiscard]] std::uint32_t relative(std::uint64_t address) const {
    return static_cast<std::uint32_t>(address - base_);
  }

 private:
  const ElfFile& binary_;
  std::uint64_t base_;
};

}  // namespace coz::linetable

#endif  // LINETABLE_ELF_CODE_SPACE_H
