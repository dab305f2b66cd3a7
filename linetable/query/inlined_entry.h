// For breakpoints: where an inlined call is entered, once for each call.
//
// gcc says it (DW_AT_entry_pc). clang and Rust do not, and where the code is in several pieces, the
// first may be what was moved out of the caller's loop. Then the first remaining statement of the
// function is the entry.
#ifndef LINETABLE_QUERY_INLINED_ENTRY_H
#define LINETABLE_QUERY_INLINED_ENTRY_H

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "linetable/elf/code_extent.h"
#include "linetable/plan/code_bytes.h"

namespace coz::linetable {

struct InlinedEntry {
  std::uint64_t address = 0;
  const char* problem = "";  // why calls cannot be counted there; empty if they can
};

// `call` is an inlined call in `function` of `unit`. Nullopt where it has no code.
[[nodiscard]] std::optional<InlinedEntry> inlined_entry(Dwarf_Die& unit, Dwarf_Die& call,
                                                        Dwarf_Die& function, const CodeBytes& code);

// Why the calls of a function or of an inlined call, whose code is in `extents`, cannot be counted
// at `entry`: it is the head of a loop of the function itself. Empty if they can.
[[nodiscard]] const char* loop_problem(std::uint64_t entry, const std::vector<CodeExtent>& extents,
                                       const CodeBytes& code);

}  // namespace coz::linetable

#endif  // LINETABLE_QUERY_INLINED_ENTRY_H
