// Debug files from the servers named in $DEBUGINFOD_URLS: only where the user asks for it, for it
// tells them what is being profiled, and waits for them.
//
// libdebuginfod is loaded when it is needed, so that coz-linetable runs, and is built, without it.
// It keeps what it has fetched in a cache of its own.
#ifndef LINETABLE_ELF_DEBUGINFOD_H
#define LINETABLE_ELF_DEBUGINFOD_H

#include <optional>
#include <string>
#include <vector>

#include "linetable/elf/elf_file.h"

namespace coz::linetable {

// The debug file of `binary`, by its build id. Where there is none, `warnings` says why.
[[nodiscard]] std::optional<ElfFile> fetch_debug_file(const ElfFile& binary,
                                                      std::vector<std::string>& warnings);

}  // namespace coz::linetable

#endif  // LINETABLE_ELF_DEBUGINFOD_H
