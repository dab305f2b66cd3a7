// Finding the file that holds a binary's debug information: the binary itself, or a separate file.
//
// Looked for only on this machine: profiling must not depend on, or tell, the network, unless the
// user asks for that (debuginfod.h).
#ifndef LINETABLE_ELF_DEBUG_FILE_H
#define LINETABLE_ELF_DEBUG_FILE_H

#include <optional>
#include <string>
#include <vector>

#include "linetable/elf/elf_file.h"

namespace coz::linetable {

inline constexpr const char* kSystemDebugDir = "/usr/lib/debug";

// The separate file for `binary`, by build-id under the debug folders, else by .gnu_debuglink
// beside the binary, in its .debug folder and under the debug folders. A file that belongs to
// another build is passed over, with a warning.
[[nodiscard]] std::optional<ElfFile> find_separate_debug_file(
    const ElfFile& binary, const std::vector<std::string>& debug_dirs,
    std::vector<std::string>& warnings);

// DIR/.build-id/ab/cdef….debug
[[nodiscard]] std::string build_id_path(const std::string& debug_dir,
                                        const std::vector<std::uint8_t>& build_id);

[[nodiscard]] std::string folder_of(const std::string& path);

}  // namespace coz::linetable

#endif  // LINETABLE_ELF_DEBUG_FILE_H
