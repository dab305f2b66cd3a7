#include "function_names.h"

#include <cxxabi.h>
#include <dwarf.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

namespace coz::linetable {

FunctionNames::~FunctionNames() { std::free(buffer_); }

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
  if (linkage_name != nullptr && std::strncmp(linkage_name, "_Z", 2) == 0) {
    return demangled(linkage_name);
  }
  // Other manglings, Rust's newer one among them, say less to a user than the plain name.
  const char* name = dwarf_formstring(dwarf_attr_integrate(&function, DW_AT_name, &attribute));
  if (name == nullptr) name = linkage_name;
  return name == nullptr ? kNoFunction : builder_.add_function(name);
}

std::uint32_t FunctionNames::demangled(const char* linkage_name) {
  const auto [known, is_new] = by_linkage_name_.try_emplace(linkage_name, kNoFunction);
  if (!is_new) return known->second;
  int status = 0;
  char* text = abi::__cxa_demangle(linkage_name, buffer_, &buffer_size_, &status);
  if (text != nullptr) buffer_ = text;
  const std::string_view name = text == nullptr ? linkage_name : without_rust_hash(text);
  known->second = builder_.add_function(name);
  return known->second;
}

std::string_view without_rust_hash(std::string_view demangled) {
  constexpr std::string_view kMark = "::h";
  constexpr std::size_t kHashSize = 16;
  const std::size_t mark = demangled.rfind(kMark);
  if (mark == std::string_view::npos) return demangled;
  const std::string_view hash = demangled.substr(mark + kMark.size());
  const bool is_hash = hash.size() == kHashSize &&
                       hash.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  return is_hash ? demangled.substr(0, mark) : demangled;
}

}  // namespace coz::linetable
