// Finding the separate file that holds a binary's debug information.
//
// libdwfl does the search: by build id below the debug folders, then by .gnu_debuglink beside the
// binary, in its .debug folder and below the debug folders, with the build id or the checksum
// compared. Servers are asked only when the user wants that: it tells them what is profiled.
#ifndef LINETABLE_ELF_DEBUG_FILE_H
#define LINETABLE_ELF_DEBUG_FILE_H

#include <optional>
#include <string>
#include <vector>

#include "linetable/elf/elf_file.h"

namespace coz::linetable {

inline constexpr const char* kSystemDebugDir = "/usr/lib/debug";

struct DebugFileSearch {
  std::vector<std::string> folders{kSystemDebugDir};
  bool debuginfod = false;  // ask the servers in $DEBUGINFOD_URLS for what is not on this machine
};

// The separate debug file of `binary`. Where there is none, `warnings` may say why. Changes the
// environment, so there must be one thread.
[[nodiscard]] std::optional<ElfFile> find_separate_debug_file(const ElfFile& binary,
                                                              const DebugFileSearch& search,
                                                              std::vector<std::string>& warnings);

}  // namespace coz::linetable

#endif  // LINETABLE_ELF_DEBUG_FILE_H
