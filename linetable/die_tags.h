// Which entries of the debug information are looked through for functions.
#ifndef LINETABLE_DIE_TAGS_H
#define LINETABLE_DIE_TAGS_H

#include <dwarf.h>

namespace coz::linetable {

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

}  // namespace coz::linetable

#endif  // LINETABLE_DIE_TAGS_H
