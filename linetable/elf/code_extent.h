// A range of addresses, mostly of code, in a file's own address space.
#ifndef LINETABLE_ELF_CODE_EXTENT_H
#define LINETABLE_ELF_CODE_EXTENT_H

#include <algorithm>
#include <cstdint>
#include <span>

namespace coz::linetable {

struct CodeExtent {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  // the first address behind it

  [[nodiscard]] bool contains(std::uint64_t address) const {
    return begin <= address && address < end;
  }
};

[[nodiscard]] inline bool any_contains(std::span<const CodeExtent> extents, std::uint64_t address) {
  return std::any_of(extents.begin(), extents.end(),
                     [&](const CodeExtent& extent) { return extent.contains(address); });
}

}  // namespace coz::linetable

#endif  // LINETABLE_ELF_CODE_EXTENT_H
