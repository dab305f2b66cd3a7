// A range of code addresses in a file's own address space.
#ifndef LINETABLE_ELF_CODE_EXTENT_H
#define LINETABLE_ELF_CODE_EXTENT_H

#include <cstdint>

namespace coz::linetable {

struct CodeExtent {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  // the first address behind it

  [[nodiscard]] bool contains(std::uint64_t address) const {
    return begin <= address && address < end;
  }
};

}  // namespace coz::linetable

#endif  // LINETABLE_ELF_CODE_EXTENT_H
