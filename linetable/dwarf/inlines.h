// The inline trees of a unit: to which function, inlined from where, each piece of code belongs.
#ifndef LINETABLE_DWARF_INLINES_H
#define LINETABLE_DWARF_INLINES_H

#include <elfutils/libdw.h>

#include <cstdint>
#include <unordered_map>

#include "linetable/dwarf/scope_names.h"
#include "linetable/dwarf/unit_files.h"
#include "linetable/elf/code_space.h"
#include "linetable/table/table_builder.h"

namespace coz::linetable {

// Both arguments must outlive it.
class InlineReader {
 public:
  InlineReader(const CodeSpace& code, TableBuilder& builder) : code_(code), builder_(builder) {}

  // Adds the scopes of all functions below `unit`, whose file numbers `files` explains. Returns
  // false when a part of the tree could not be read.
  [[nodiscard]] bool read(Dwarf_Die& unit, UnitFiles& files);

 private:
  bool add_ranges(Dwarf_Die& entry, std::uint32_t scope);
  [[nodiscard]] std::uint32_t call_line(Dwarf_Die& inlined, UnitFiles& files);
  [[nodiscard]] std::uint32_t function_id(Dwarf_Die& entry);

  const CodeSpace& code_;
  TableBuilder& builder_;
  ScopeNames scope_names_;  // of the unit that is being read
  // Each name is demangled once. Both are keyed by addresses in the mapped debug information, which
  // are unique.
  std::unordered_map<const void*, std::uint32_t> function_of_origin_;
  std::unordered_map<const void*, std::uint32_t> function_of_symbol_;
};

}  // namespace coz::linetable

#endif  // LINETABLE_DWARF_INLINES_H
