// Reading the debug information of one binary into a TableBuilder.
#ifndef LINETABLE_DWARF_DEBUG_INFO_H
#define LINETABLE_DWARF_DEBUG_INFO_H

#include <cstddef>
#include <string>
#include <vector>

#include "linetable/elf/elf_file.h"
#include "linetable/table/table_builder.h"

namespace coz::linetable {

// Adds every line row and every inlined call of `binary`, as `debug_file` (perhaps the same file)
// describes them. A unit that cannot be read costs only that unit, and a warning. `debug_dirs` is
// where a file of shared debug information (.gnu_debugaltlink, made by dwz) is looked for.
//
// Returns the number of rows that name a line; none means no debug information worth having.
[[nodiscard]] std::size_t read_debug_info(const ElfFile& binary, const ElfFile& debug_file,
                                          const std::vector<std::string>& debug_dirs,
                                          TableBuilder& builder,
                                          std::vector<std::string>& warnings);

}  // namespace coz::linetable

#endif  // LINETABLE_DWARF_DEBUG_INFO_H
