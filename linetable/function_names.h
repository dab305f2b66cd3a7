// The names of functions as users know them, each demangled once.
#ifndef LINETABLE_FUNCTION_NAMES_H
#define LINETABLE_FUNCTION_NAMES_H

#include <elfutils/libdw.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "table_builder.h"

namespace coz::linetable {

class FunctionNames {
 public:
  explicit FunctionNames(TableBuilder& builder) : builder_(builder) {}
  ~FunctionNames();
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
  char* buffer_ = nullptr;  // malloc'ed: __cxa_demangle wants to enlarge it
  std::size_t buffer_size_ = 0;
};

// `demangled` without the "::h0123456789abcdef" that Rust's older mangling ends in.
[[nodiscard]] std::string_view without_rust_hash(std::string_view demangled);

}  // namespace coz::linetable

#endif  // LINETABLE_FUNCTION_NAMES_H
