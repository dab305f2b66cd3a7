#include "linetable/dwarf/scopes.h"

#include <dwarf.h>

#include <algorithm>
#include <cstddef>
#include <unordered_set>
#include <vector>

#include "linetable/dwarf/entries.h"
#include "linetable/dwarf/unit_files.h"
#include "linetable/dwarf/units.h"
#include "linetable/symbols/demangle.h"

namespace coz::linetable {
namespace {

const char* text_of(Dwarf_Die& origin, unsigned attribute_name) {
  Dwarf_Attribute attribute;
  return dwarf_formstring(dwarf_attr_integrate(&origin, attribute_name, &attribute));
}

}  // namespace

std::optional<std::uint64_t> entry_of(Dwarf_Die& entry) {
  Dwarf_Addr address = 0;
  const bool is_known = dwarf_entrypc(&entry, &address) == 0;
  // BOLT replaces DW_AT_high_pc by ranges, and leaves DW_AT_low_pc as 0, which is no entry then.
  if (is_known && (address != 0 || dwarf_hasattr(&entry, DW_AT_ranges) == 0)) return address;
  const std::vector<CodeExtent> extents = extents_of(entry);
  if (!extents.empty()) return extents.front().begin;
  return is_known ? std::optional<std::uint64_t>(address) : std::nullopt;
}

// An instance may have a linkage name of its own (one of the several bodies of a constructor), but
// to the user it is the same function.
Dwarf_Die origin_of(Dwarf_Die& entry) {
  Dwarf_Attribute attribute;
  Dwarf_Die origin;
  const bool has_origin = dwarf_attr(&entry, DW_AT_abstract_origin, &attribute) != nullptr &&
                          dwarf_formref_die(&attribute, &origin) != nullptr;
  return has_origin ? origin : entry;
}

const char* symbol_of(Dwarf_Die& origin) {
  const char* linkage = text_of(origin, DW_AT_linkage_name);
  if (linkage == nullptr) linkage = text_of(origin, DW_AT_MIPS_linkage_name);
  // Other manglings say less to a user than the plain name.
  return linkage != nullptr && is_mangled(linkage) ? linkage : nullptr;
}

std::string whole_name_of(Dwarf_Die& origin, ScopeNames& scopes) {
  const char* symbol = symbol_of(origin);
  return symbol != nullptr ? demangled(symbol) : scopes.qualified(origin);
}

std::string declaring_file_of(Dwarf_Die& origin) {
  // Not dwarf_decl_file(): to libdw 0.188 the first file of DWARF 5, which has number 0, is none.
  Dwarf_Attribute attribute;
  Dwarf_Word number = 0;
  if (dwarf_formudata(dwarf_attr_integrate(&origin, DW_AT_decl_file, &attribute), &number) != 0) {
    return {};
  }
  // The number counts in the unit that has the attribute, which may be another than the origin's:
  // dwz moves declarations to units that others share.
  Dwarf_Die unit;
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  if (dwarf_cu_die(attribute.cu, &unit, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr) ==
      nullptr) {
    return {};
  }
  // libdw 0.188 aborts where the unit has no table of files, as in a .dwo file.
  if (!read_files(unit, files, count)) return {};
  return path_of_file(files, number, compilation_dir_of(unit));
}

bool is_of_unit_only(Dwarf_Die& origin) {
  Dwarf_Attribute attribute;
  bool is_external = false;
  return dwarf_formflag(dwarf_attr_integrate(&origin, DW_AT_external, &attribute), &is_external) !=
             0 ||
         !is_external;
}

FunctionName name_of(Dwarf_Die& entry, ScopeNames& scopes) {
  Dwarf_Die origin = origin_of(entry);
  FunctionName result;
  if (const char* plain = text_of(origin, DW_AT_name)) result.plain = plain;
  result.whole = whole_name_of(origin, scopes);
  result.file = declaring_file_of(origin);
  return result;
}

void for_each_scope(Dwarf_Die& unit, const std::function<void(Dwarf_Die&, Dwarf_Die&)>& visit) {
  using Function = std::optional<Dwarf_Die>;  // the one around
  const auto look_at = [&](Dwarf_Die& entry, const Function& outer) -> std::optional<Function> {
    const bool is_function = dwarf_tag(&entry) == DW_TAG_subprogram;
    if (!is_function && !outer) return std::nullopt;
    Function function = is_function ? Function(entry) : outer;
    visit(entry, *function);
    return function;
  };
  static_cast<void>(walk_scopes(unit, Function(), look_at));
}

ScopeIndex::ScopeIndex(Dwarf_Die& unit, const CodeSpace& code) {
  std::unordered_set<const void*> kept;  // functions; their bodies may stand in one another
  for_each_scope(unit, [&](Dwarf_Die& scope, Dwarf_Die& function) {
    std::vector<CodeExtent> extents = extents_of(scope);
    std::erase_if(extents, [&](const CodeExtent& extent) { return !code.is_code(extent.begin); });
    if (scope.addr == function.addr && !extents.empty()) kept.insert(function.addr);
    if (!kept.contains(function.addr)) return;
    for (const CodeExtent& extent : extents) entries_.push_back({extent, scope, function});
  });
}

std::optional<ScopeIndex::Found> ScopeIndex::innermost(std::uint64_t address) const {
  const auto entry = std::find_if(entries_.rbegin(), entries_.rend(),
                                  [&](const Entry& each) { return each.code.contains(address); });
  if (entry == entries_.rend()) return std::nullopt;
  return Found{entry->scope, entry->function};
}

}  // namespace coz::linetable
