// The functions of a unit that have code, and the calls that were inlined into them, as entries of
// the debug information.
#ifndef LINETABLE_DWARF_SCOPES_H
#define LINETABLE_DWARF_SCOPES_H

#include <elfutils/libdw.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "linetable/elf/code_extent.h"

namespace coz::linetable {

[[nodiscard]] std::vector<CodeExtent> extents_of(Dwarf_Die& entry);

// Where a function or an inlined call is entered.
[[nodiscard]] std::optional<std::uint64_t> entry_of(Dwarf_Die& entry);

// The names of the function that `entry` is an instance of.
struct FunctionName {
  std::string whole;  // demangled, with parameters
  std::string plain;  // as in the source, without its class or namespace
  std::string file;   // that declares it; normalised
};
[[nodiscard]] FunctionName name_of(Dwarf_Die& entry);

// What identifies that function within its file of debug information.
[[nodiscard]] const void* origin_of(Dwarf_Die& entry);

// Calls `visit(entry, function)` for each function with code, and for each inlined call, with the
// function around it (the entry itself for a function). With an address: only for those that
// contain it, outermost first.
void for_each_scope(Dwarf_Die& unit, std::optional<std::uint64_t> address,
                    const std::function<void(Dwarf_Die&, Dwarf_Die&)>& visit);

}  // namespace coz::linetable

#endif  // LINETABLE_DWARF_SCOPES_H
