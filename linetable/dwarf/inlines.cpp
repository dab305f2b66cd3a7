#include "linetable/dwarf/inlines.h"

#include <dwarf.h>

#include <cstddef>
#include <limits>

#include "linetable/dwarf/entries.h"

namespace coz::linetable {

bool InlineReader::read(Dwarf_Die& unit, UnitFiles& files) {
  files_ = &files;
  return read_children(unit, kNoScope, 0);
}

bool InlineReader::read_children(Dwarf_Die& parent, std::uint32_t scope, unsigned depth) {
  if (depth > kMaxDepth) return false;
  Dwarf_Die entry;
  int status = dwarf_child(&parent, &entry);
  bool complete = true;
  while (status == 0) {
    complete = read_entry(entry, scope, depth) && complete;
    status = next_sibling(entry);
  }
  return status > 0 && complete;
}

bool InlineReader::read_entry(Dwarf_Die& entry, std::uint32_t scope, unsigned depth) {
  switch (dwarf_tag(&entry)) {
    case DW_TAG_subprogram: {
      // Without code it is a declaration or an abstract instance: only a pattern for others.
      if (!has_code(entry)) return true;
      const std::uint32_t function = builder_.add_function_scope(names_.id(entry));
      return add_ranges(entry, function) && read_children(entry, function, depth + 1);
    }
    case DW_TAG_inlined_subroutine: {
      if (!has_code(entry)) return true;
      const std::uint32_t inlined =
          builder_.add_inlined_scope(names_.id(entry), scope, call_line(entry));
      return add_ranges(entry, inlined) && read_children(entry, inlined, depth + 1);
    }
    default:
      return !may_hold_functions(dwarf_tag(&entry)) || read_children(entry, scope, depth + 1);
  }
}

bool InlineReader::add_ranges(Dwarf_Die& entry, std::uint32_t scope) {
  Dwarf_Addr base = 0;
  Dwarf_Addr begin = 0;
  Dwarf_Addr end = 0;
  std::ptrdiff_t offset = 0;
  while ((offset = dwarf_ranges(&entry, offset, &base, &begin, &end)) > 0) {
    if (begin < end && code_.is_code(begin) && code_.fits(end)) {
      builder_.add_range(code_.relative(begin), code_.relative(end), scope);
    }
  }
  return offset == 0;
}

std::uint32_t InlineReader::call_line(Dwarf_Die& inlined) {
  const std::uint64_t line = number_of(inlined, DW_AT_call_line);
  if (line == 0 || line > std::numeric_limits<std::uint32_t>::max()) return kNoLine;
  const std::uint32_t file = files_->id(number_of(inlined, DW_AT_call_file));
  return file == kNoFile ? kNoLine : builder_.add_line(file, static_cast<std::uint32_t>(line));
}

}  // namespace coz::linetable
