// Paths of source files as debug information gives them.
#ifndef LINETABLE_DWARF_SOURCE_PATH_H
#define LINETABLE_DWARF_SOURCE_PATH_H

#include <string>
#include <string_view>

namespace coz::linetable {

// `path`, seen from the folder `base` (either may be empty), without ".", ".." and "//". Purely
// lexical: the sources need not exist on this machine. "<built-in>" and its like name no file and
// are returned without a folder.
[[nodiscard]] std::string normalise_source_path(std::string_view base, std::string_view path);

}  // namespace coz::linetable

#endif  // LINETABLE_DWARF_SOURCE_PATH_H
