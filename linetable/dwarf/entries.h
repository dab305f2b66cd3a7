// Entries of the debug information: going through those of functions, and what one says of itself.
#ifndef LINETABLE_DWARF_ENTRIES_H
#define LINETABLE_DWARF_ENTRIES_H

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "linetable/elf/code_extent.h"

namespace coz::linetable {

// Calls visit(const CodeExtent&) for each range of code of an entry, in the order in which the
// entry has them. False when some cannot be read.
template <typename Visit>
bool for_each_extent(Dwarf_Die& entry, Visit visit) {
  Dwarf_Addr base = 0;
  CodeExtent extent;
  std::ptrdiff_t offset = 0;
  while ((offset = dwarf_ranges(&entry, offset, &base, &extent.begin, &extent.end)) > 0) {
    if (extent.begin < extent.end) visit(extent);
  }
  return offset == 0;
}

[[nodiscard]] inline std::vector<CodeExtent> extents_of(Dwarf_Die& entry) {
  std::vector<CodeExtent> extents;
  for_each_extent(entry, [&](const CodeExtent& extent) { extents.push_back(extent); });
  return extents;
}

// The value of a numeric attribute; 0 where there is none.
[[nodiscard]] inline std::uint64_t number_of(Dwarf_Die& entry, unsigned attribute_name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (dwarf_formudata(dwarf_attr(&entry, attribute_name, &attribute), &value) != 0) return 0;
  return value;
}

// Goes through the functions with code and the inlined calls below an entry, outermost first.
//
// `visit(entry, outer)` is called for each. It returns the value that the entries inside this one
// get as `outer`, or nullopt: then the walk skips what is inside. Entries without code are not
// visited: they are declarations or abstract instances, which only describe other entries. But gcc
// puts the bodies of lambdas and of local classes into the abstract instance of the function
// around.
template <typename Outer, typename Visit>
class ScopeWalk {
 public:
  explicit ScopeWalk(Visit& visit) : visit_(visit) {}

  // False when a part of the tree cannot be read.
  bool children_of(Dwarf_Die& parent, const Outer& outer, unsigned depth = 0) {
    // Far deeper than compilers nest; a damaged tree must not exhaust the stack.
    constexpr unsigned kMaxDepth = 1000;
    if (depth > kMaxDepth) return false;
    Dwarf_Die entry;
    int status = dwarf_child(&parent, &entry);
    bool is_complete = true;
    while (status == 0) {
      is_complete = look_at(entry, outer, depth) && is_complete;
      const void* const here = entry.addr;
      status = dwarf_siblingof(&entry, &entry);
      // A damaged entry may say that what stands before it comes next: the walk would not end.
      if (status == 0 && std::less_equal<const void*>()(entry.addr, here)) return false;
    }
    return status > 0 && is_complete;
  }

 private:
  bool look_at(Dwarf_Die& entry, const Outer& outer, unsigned depth) {
    switch (dwarf_tag(&entry)) {
      case DW_TAG_subprogram:
      case DW_TAG_inlined_subroutine: {
        const bool has_code =
            dwarf_hasattr(&entry, DW_AT_low_pc) != 0 || dwarf_hasattr(&entry, DW_AT_ranges) != 0;
        if (!has_code) {
          return dwarf_hasattr(&entry, DW_AT_declaration) != 0 ||
                 children_of(entry, outer, depth + 1);
        }
        const std::optional<Outer> inner = visit_(entry, outer);
        return !inner || children_of(entry, *inner, depth + 1);
      }
      case DW_TAG_lexical_block:
      case DW_TAG_try_block:
      case DW_TAG_catch_block:
      case DW_TAG_namespace:
      case DW_TAG_module:
      case DW_TAG_structure_type:
      case DW_TAG_class_type:
      case DW_TAG_union_type:
      case DW_TAG_enumeration_type:
        return children_of(entry, outer, depth + 1);
      default:
        return true;
    }
  }

  Visit& visit_;
};

template <typename Outer, typename Visit>
bool walk_scopes(Dwarf_Die& unit, const Outer& outermost, Visit visit) {
  return ScopeWalk<Outer, Visit>(visit).children_of(unit, outermost);
}

}  // namespace coz::linetable

#endif  // LINETABLE_DWARF_ENTRIES_H
