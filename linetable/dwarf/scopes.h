// The functions of a unit that have code, and the calls that were inlined into them: their names,
// where they are entered, and which is around an address.
#ifndef LINETABLE_DWARF_SCOPES_H
#define LINETABLE_DWARF_SCOPES_H

#include <elfutils/libdw.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "linetable/dwarf/scope_names.h"
#include "linetable/elf/code_extent.h"
#include "linetable/elf/code_space.h"

namespace coz::linetable {

// Where a function or an inlined call is entered.
[[nodiscard]] std::optional<std::uint64_t> entry_of(Dwarf_Die& entry);

// The entry that names the function of which `entry` is an instance. Its address, `addr`,
// identifies the function within its file of debug information.
[[nodiscard]] Dwarf_Die origin_of(Dwarf_Die& entry);

// The mangled name of a function of C++ or Rust; null if it has none. It points into the debug
// information. `origin` is what origin_of() returned.
[[nodiscard]] const char* symbol_of(Dwarf_Die& origin);

// Which file declares it, normalised; empty if that is not known.
[[nodiscard]] std::string declaring_file_of(Dwarf_Die& origin);
// May other units have another function of that name?
[[nodiscard]] bool is_of_unit_only(Dwarf_Die& origin);

struct FunctionName {
  std::string whole;  // demangled, with parameters; else by the scopes around (scope_names.h)
  std::string plain;  // as in the source, without its class or namespace
  std::string file;   // that declares it; normalised
};
[[nodiscard]] FunctionName name_of(Dwarf_Die& entry, ScopeNames& scopes);
// Its `whole` alone. `origin` is what origin_of() returned.
[[nodiscard]] std::string whole_name_of(Dwarf_Die& origin, ScopeNames& scopes);

// Calls `visit(entry, function)` for each function with code, and for each inlined call, with the
// function around it (the entry itself for a function), outermost first.
void for_each_scope(Dwarf_Die& unit, const std::function<void(Dwarf_Die&, Dwarf_Die&)>& visit);

// The scopes of a unit by their code, but those of functions that the linker removed: these seem to
// begin at 0, and may reach into code that it kept. To go through a unit takes long.
class ScopeIndex {
 public:
  ScopeIndex(Dwarf_Die& unit, const CodeSpace& code);

  struct Found {
    Dwarf_Die scope;
    Dwarf_Die function;
  };
  [[nodiscard]] std::optional<Found> innermost(std::uint64_t address) const;

 private:
  struct Entry {
    CodeExtent code;
    Dwarf_Die scope;
    Dwarf_Die function;
  };
  std::vector<Entry> entries_;
};

}  // namespace coz::linetable

#endif  // LINETABLE_DWARF_SCOPES_H
