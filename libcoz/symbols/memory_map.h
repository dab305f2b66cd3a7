// Which file each mapping of this process shows: parses /proc/self/maps.
//
// The loader knows libraries by the names that the program gave, which may be relative to a folder
// that is no longer the current one; the kernel has whole paths.
#ifndef LIBCOZ_SYMBOLS_MEMORY_MAP_H
#define LIBCOZ_SYMBOLS_MEMORY_MAP_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace coz {

struct Mapping {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  std::string_view path;  // points into the text; without " (deleted)"
};

// The lines of `text` that show files.
std::vector<Mapping> parse_memory_map(std::string_view text);

// The file at an address; empty if there is none. `mappings` are in ascending order, as the kernel
// lists them.
std::string_view file_at(const std::vector<Mapping>& mappings, std::uintptr_t address);

}  // namespace coz

#endif  // LIBCOZ_SYMBOLS_MEMORY_MAP_H
