// Reading the debug information of one binary into a TableBuilder.
#ifndef LINETABLE_DWARF_DEBUG_INFO_H
#define LINETABLE_DWARF_DEBUG_INFO_H

#include <cstddef>
#include <string>
#include <vector>

#include "linetable/elf/elf_file.h"
#include "linetable/table/table_builder.h"

namespace coz::linetable {

struct DebugInfoRead {
  std::size_t rows = 0;      // that name a line; none: no debug information worth having
  bool lacks_files = false;  // of those that it refers to; they may be there the next time
};

// Adds every line row and every inlined call of `binary`, as `debug_file` (perhaps the same file)
// describes them. A unit that cannot be read costs only that unit, and a warning.
[[nodiscard]] DebugInfoRead read_debug_info(const ElfFile& binary, const ElfFile& debug_file,
                                            TableBuilder& builder,
                                            std::vector<std::string>& warnings);

}  // namespace coz::linetable

#endif  // LINETABLE_DWARF_DEBUG_INFO_H
