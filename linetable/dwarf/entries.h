// Entries of the debug information: which are looked through for functions, going from one to the
// next, and what they say of themselves.
#ifndef LINETABLE_DWARF_ENTRIES_H
#define LINETABLE_DWARF_ENTRIES_H

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <cstdint>
#include <functional>

namespace coz::linetable {

// Far deeper than compilers nest; a damaged tree must not exhaust the stack.
inline constexpr unsigned kMaxDepth = 1000;

// Is it an entry, neither a function nor an inlined call, that may have such among its children?
[[nodiscard]] constexpr bool may_hold_functions(int tag) noexcept {
  switch (tag) {
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_enumeration_type:
      return true;
    default:
      return false;
  }
}

// As dwarf_siblingof(&entry, &entry), but an error where a damaged entry says that what stands
// before it comes next: the walk would not end.
inline int next_sibling(Dwarf_Die& entry) {
  const void* const here = entry.addr;
  const int status = dwarf_siblingof(&entry, &entry);
  return status == 0 && std::less_equal<const void*>()(entry.addr, here) ? -1 : status;
}

inline bool has_code(Dwarf_Die& entry) {
  return dwarf_hasattr(&entry, DW_AT_low_pc) != 0 || dwarf_hasattr(&entry, DW_AT_ranges) != 0;
}

// An attribute's value; 0 where there is none.
inline std::uint64_t number_of(Dwarf_Die& entry, unsigned attribute_name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (dwarf_formudata(dwarf_attr(&entry, attribute_name, &attribute), &value) != 0) return 0;
  return value;
}

}  // namespace coz::linetable

#endif  // LINETABLE_DWARF_ENTRIES_H
