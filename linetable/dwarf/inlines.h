// The inline trees of a unit: which function, inlined from where, each piece of code belongs to.
#ifndef LINETABLE_DWARF_INLINES_H
#define LINETABLE_DWARF_INLINES_H

#include <elfutils/libdw.h>

#include <cstdint>

#include "linetable/dwarf/function_names.h"
#include "linetable/dwarf/unit_files.h"
#include "linetable/elf/code_space.h"
#include "linetable/table/table_builder.h"

namespace coz::linetable {

class InlineReader {
 public:
  InlineReader(const CodeSpace& code, TableBuilder& builder)
      : code_(code), builder_(builder), names_(builder) {}

  // Adds the scopes of all functions below `unit`, whose file numbers `files` explains. Returns
  // false when a part of the tree could not be read.
  [[nodiscard]] bool read(Dwarf_Die& unit, UnitFiles& files);

 private:
  bool read_children(Dwarf_Die& parent, std::uint32_t scope, unsigned depth);
  bool read_entry(Dwarf_Die& entry, std::uint32_t scope, unsigned depth);
  bool add_ranges(Dwarf_Die& entry, std::uint32_t scope);
  [[nodiscard]] std::uint32_t call_line(Dwarf_Die& inlined);

  const CodeSpace& code_;
  TableBuilder& builder_;
  FunctionNames names_;
  UnitFiles* files_ = nullptr;
};

}  // namespace coz::linetable

#endif  // LINETABLE_DWARF_INLINES_H
