#include "linetable/dwarf/scope_names.h"

#include <dwarf.h>

#include <functional>
#include <string_view>

namespace coz::linetable {
namespace {

// Far deeper than compilers nest; a damaged tree must not exhaust the stack, or go round in
// circles.
constexpr unsigned kMaxDepth = 1000;

bool is_of_c(Dwarf_Die& unit) {
  switch (dwarf_srclang(&unit)) {
    case DW_LANG_C:
    case DW_LANG_C89:
    case DW_LANG_C99:
    case DW_LANG_C11:
    case DW_LANG_Mips_Assembler:
      return true;
    default:
      return false;
  }
}

bool is_class(int tag) {
  return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

// The entry that stands where the function was declared: an instance, or the body of a member
// function, stands elsewhere.
Dwarf_Die declaration_of(Dwarf_Die entry) {
  for (const unsigned link : {DW_AT_abstract_origin, DW_AT_specification}) {
    Dwarf_Attribute attribute;
    Dwarf_Die linked;
    if (dwarf_attr(&entry, link, &attribute) != nullptr &&
        dwarf_formref_die(&attribute, &linked) != nullptr) {
      entry = linked;
    }
  }
  return entry;
}

const char* plain_name(Dwarf_Die& entry) {
  Dwarf_Attribute attribute;
  return dwarf_formstring(dwarf_attr_integrate(&entry, DW_AT_name, &attribute));
}

// Which names leave out. False where there is no entry.
bool is_anonymous_namespace(Dwarf_Die& scope) {
  return scope.addr != nullptr && dwarf_tag(&scope) == DW_TAG_namespace &&
         plain_name(scope) == nullptr;
}

// What a class without a name is. Only those with functions are numbered: headers have many others.
enum class Unnamed { kNone, kLambda, kWithFunctions };

Unnamed unnamed_of(Dwarf_Die& scope) {
  if (!is_class(dwarf_tag(&scope)) || dwarf_hasattr(&scope, DW_AT_name) != 0) return Unnamed::kNone;
  Unnamed found = Unnamed::kNone;
  Dwarf_Die member;
  for (int status = dwarf_child(&scope, &member); status == 0;) {
    if (dwarf_tag(&member) == DW_TAG_subprogram) {
      found = Unnamed::kWithFunctions;
      const char* name = plain_name(member);
      const std::string_view text = name == nullptr ? "" : name;
      if (text == "operator()" || text.starts_with("operator()<")) return Unnamed::kLambda;
    }
    const void* const here = member.addr;
    status = dwarf_siblingof(&member, &member);
    if (std::less_equal<const void*>()(member.addr, here)) break;
  }
  return found;
}

}  // namespace

std::string ScopeNames::qualified(Dwarf_Die& origin) {
  const char* plain = plain_name(origin);
  if (plain == nullptr) return {};
  std::string name = plain;
  Dwarf_Die scope = origin;
  for (unsigned depth = 0; depth < kMaxDepth; ++depth) {
    scope = declaration_of(scope);
    Dwarf_Die unit;
    if (dwarf_diecu(&scope, &unit, nullptr, nullptr) == nullptr || is_of_c(unit)) return name;
    read(unit);
    const auto place = places_.find(scope.addr);
    if (place == places_.end() || place->second.around.addr == nullptr) return name;
    scope = place->second.around;
    if (!is_anonymous_namespace(scope)) name = own_name(scope) + "::" + name;
  }
  return name;
}

std::string ScopeNames::own_name(Dwarf_Die& scope) const {
  if (const char* plain = plain_name(scope)) return plain;
  // g++ does not say which typedef names a type without a name.
  const auto place = places_.find(scope.addr);
  const unsigned number = place == places_.end() ? 0 : place->second.number;
  const bool is_lambda = unnamed_of(scope) == Unnamed::kLambda;
  return (is_lambda ? "{lambda#" : "{unnamed type#") + std::to_string(number) + "}";
}

void ScopeNames::read(Dwarf_Die& unit) {
  if (units_.insert(unit.addr).second) read_children(unit, Dwarf_Die{}, 0);
}

void ScopeNames::add(Dwarf_Die& scope, const Dwarf_Die& around) {
  Place& place = places_[scope.addr];
  place.around = around;
  const Unnamed kind = unnamed_of(scope);
  if (kind == Unnamed::kNone) return;
  Dwarf_Die counted_in = around;
  while (is_anonymous_namespace(counted_in)) counted_in = places_[counted_in.addr].around;
  if (counted_in.addr == nullptr) dwarf_diecu(&scope, &counted_in, nullptr, nullptr);
  Numbers& numbers = numbers_[counted_in.addr];
  place.number = kind == Unnamed::kLambda ? ++numbers.lambdas : ++numbers.others;
}

void ScopeNames::read_children(Dwarf_Die& parent, const Dwarf_Die& around, unsigned depth) {
  Dwarf_Die entry;
  if (depth > kMaxDepth || dwarf_child(&parent, &entry) != 0) return;
  for (;;) {
    const int tag = dwarf_tag(&entry);
    if (tag == DW_TAG_subprogram || tag == DW_TAG_namespace || tag == DW_TAG_module ||
        is_class(tag)) {
      add(entry, around);
      // The many declarations of functions have parameters only.
      const bool is_declared_only =
          tag == DW_TAG_subprogram && dwarf_hasattr(&entry, DW_AT_declaration) != 0;
      if (!is_declared_only) read_children(entry, entry, depth + 1);
    } else if (tag == DW_TAG_lexical_block || tag == DW_TAG_try_block ||
               tag == DW_TAG_catch_block) {
      read_children(entry, around, depth + 1);
    }
    const void* const here = entry.addr;
    if (dwarf_siblingof(&entry, &entry) != 0 || std::less_equal<const void*>()(entry.addr, here)) {
      return;
    }
  }
}

}  // namespace coz::linetable
