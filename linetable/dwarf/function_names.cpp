#include "linetable/dwarf/function_names.h"

#include <dwarf.h>

namespace coz::linetable {

std::uint32_t FunctionNames::id(Dwarf_Die& function) {
  Dwarf_Attribute attribute;
  Dwarf_Die origin;
  const bool has_origin = dwarf_attr(&function, DW_AT_abstract_origin, &attribute) != nullptr &&
                          dwarf_formref_die(&attribute, &origin) != nullptr;
  // An instance may have a linkage name of its own (one of the several bodies of a constructor),
  // but to the user it is the same function.
  Dwarf_Die& named = has_origin ? origin : function;
  const auto [known, is_new] = by_origin_.try_emplace(named.addr, kNoFunction);
  if (!is_new) return known->second;
  known->second = read(named);
  return known->second;
}

std::uint32_t FunctionNames::read(Dwarf_Die& function) {
  Dwarf_Attribute attribute;
  Dwarf_Attribute* linkage = dwarf_attr_integrate(&function, DW_AT_linkage_name, &attribute);
  if (linkage == nullptr) {
    linkage = dwarf_attr_integrate(&function, DW_AT_MIPS_linkage_name, &attribute);
  }
  const char* linkage_name = dwarf_formstring(linkage);
  if (linkage_name != nullptr && is_mangled(linkage_name)) return demangled(linkage_name);
  // Other manglings say less to a user than the plain name.
  const char* name = dwarf_formstring(dwarf_attr_integrate(&function, DW_AT_name, &attribute));
  if (name == nullptr) name = linkage_name;
  return name == nullptr ? kNoFunction : builder_.add_function(name);
}

std::uint32_t FunctionNames::demangled(const char* linkage_name) {
  const auto [known, is_new] = by_linkage_name_.try_emplace(linkage_name, kNoFunction);
  if (!is_new) return known->second;
  known->second = builder_.add_function(demangler_(linkage_name));
  return known->second;
}

}  // namespace coz::linetable
