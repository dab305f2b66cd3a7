// The names of functions as users know them, each demangled once.
#ifndef LINETABLE_DWARF_FUNCTION_NAMES_H
#define LINETABLE_DWARF_FUNCTION_NAMES_H

#include <elfutils/libdw.h>

#include <cstdint>
#include <string>
#include <unordered_map>

#include "linetable/symbols/demangle.h"
#include "linetable/table/table_builder.h"

namespace coz::linetable {

class FunctionNames {
 public:
  explicit FunctionNames(TableBuilder& builder) : builder_(builder) {}
  FunctionNames(const FunctionNames&) = delete;
  FunctionNames& operator=(const FunctionNames&) = delete;

  // The builder's id of the name of a subprogram or inlined subroutine, kNoFunction without one.
  [[nodiscard]] std::uint32_t id(Dwarf_Die& function);

 private:
  [[nodiscard]] std::uint32_t read(Dwarf_Die& function);
  [[nodiscard]] std::uint32_t demangled(const char* linkage_name);

  TableBuilder& builder_;
  // Both keyed by addresses in the mapped debug information, which are unique.
  std::unordered_map<const void*, std::uint32_t> by_origin_;
  std::unordered_map<const void*, std::uint32_t> by_linkage_name_;
  Demangler demangler_;
};

}  // namespace coz::linetable

#endif  // LINETABLE_DWARF_FUNCTION_NAMES_H
