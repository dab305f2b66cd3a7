#include "linetable/dwarf/scopes.h"

#include <dwarf.h>

#include <cstddef>

#include "linetable/dwarf/entries.h"
#include "linetable/dwarf/source_path.h"
#include "linetable/symbols/demangle.h"

namespace coz::linetable {
namespace {

// The entry that has the names.
Dwarf_Die named_entry(Dwarf_Die& entry) {
  Dwarf_Attribute attribute;
  Dwarf_Die origin;
  const bool has_origin = dwarf_attr(&entry, DW_AT_abstract_origin, &attribute) != nullptr &&
                          dwarf_formref_die(&attribute, &origin) != nullptr;
  return has_origin ? origin : entry;
}

class Walk {
 public:
  using Visit = std::function<void(Dwarf_Die&, Dwarf_Die&)>;
  Walk(std::optional<std::uint64_t> address, const Visit& visit)
      : address_(address), visit_(visit) {}

  void children_of(Dwarf_Die& parent, Dwarf_Die* function, unsigned depth) {
    if (depth > kMaxDepth) return;
    Dwarf_Die entry;
    for (int status = dwarf_child(&parent, &entry); status == 0; status = next_sibling(entry)) {
      look_at(entry, function, depth);
    }
  }

 private:
  void look_at(Dwarf_Die& entry, Dwarf_Die* function, unsigned depth) {
    switch (dwarf_tag(&entry)) {
      case DW_TAG_subprogram:
      case DW_TAG_inlined_subroutine: {
        if (!has_code(entry)) return;
        if (address_ && dwarf_haspc(&entry, *address_) <= 0) return;
        Dwarf_Die* around = dwarf_tag(&entry) == DW_TAG_subprogram ? &entry : function;
        if (around == nullptr) return;
        visit_(entry, *around);
        children_of(entry, around, depth + 1);
        return;
      }
      default:
        if (may_hold_functions(dwarf_tag(&entry))) children_of(entry, function, depth + 1);
        return;
    }
  }

  std::optional<std::uint64_t> address_;
  const Visit& visit_;
};

}  // namespace

std::vector<CodeExtent> extents_of(Dwarf_Die& entry) {
  std::vector<CodeExtent> extents;
  Dwarf_Addr base = 0;
  CodeExtent extent;
  std::ptrdiff_t offset = 0;
  while ((offset = dwarf_ranges(&entry, offset, &base, &extent.begin, &extent.end)) > 0) {
    if (extent.begin < extent.end) extents.push_back(extent);
  }
  return extents;
}

std::optional<std::uint64_t> entry_of(Dwarf_Die& entry) {
  Dwarf_Addr address = 0;
  if (dwarf_entrypc(&entry, &address) == 0) return address;
  const std::vector<CodeExtent> extents = extents_of(entry);
  if (extents.empty()) return std::nullopt;
  return extents.front().begin;
}

const void* origin_of(Dwarf_Die& entry) { return named_entry(entry).addr; }

FunctionName name_of(Dwarf_Die& entry) {
  Dwarf_Die named = named_entry(entry);
  FunctionName result;
  Dwarf_Attribute attribute;
  const char* plain = dwarf_formstring(dwarf_attr_integrate(&named, DW_AT_name, &attribute));
  const char* linkage =
      dwarf_formstring(dwarf_attr_integrate(&named, DW_AT_linkage_name, &attribute));
  if (plain != nullptr) result.plain = plain;
  if (linkage != nullptr && is_mangled(linkage)) {
    result.whole = Demangler()(linkage);
  } else {
    result.whole = plain != nullptr ? plain : linkage != nullptr ? linkage : "";
  }
  if (const char* file = dwarf_decl_file(&named)) {
    result.file = normalise_source_path({}, file);
  }
  return result;
}

void for_each_scope(Dwarf_Die& unit, std::optional<std::uint64_t> address,
                    const std::function<void(Dwarf_Die&, Dwarf_Die&)>& visit) {
  Walk(address, visit).children_of(unit, nullptr, 0);
}

}  // namespace coz::linetable
