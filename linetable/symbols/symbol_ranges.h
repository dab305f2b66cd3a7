// From symbols and unwind tables to code segments with the function that each belongs to.
//
// Without debug information nothing else is known of functions, and symbols were not made for this:
// they overlap, lie in each other, share an address, or have no size. Plain logic, without ELF.
//
//   - Of symbols at one address (aliases), one gives the name: a function before an ifunc (whose
//     code only chooses among functions) before a label; then the most global; then the one with
//     the fewest leading underscores. The largest size counts.
//   - Where symbols overlap, the code belongs to the one that begins last; where that ends, the one
//     around it continues.
//   - A symbol without a size, as in handwritten assembly, ends with its entry in the unwind table,
//     and in any case where the next symbol or entry begins.
//   - A label (a symbol without a type) inside a function is no function.
//   - Entries of the unwind table show functions without a symbol, which then have no name.
#ifndef LINETABLE_SYMBOLS_SYMBOL_RANGES_H
#define LINETABLE_SYMBOLS_SYMBOL_RANGES_H

#include <cstdint>
#include <string_view>
#include <vector>

#include "linetable/elf/code_extent.h"

namespace coz::linetable {

struct Symbol {
  // In both, the preferred ones come first.
  enum class Kind { kFunction, kIfunc, kLabel };
  enum class Binding { kGlobal, kWeak, kLocal };

  std::uint64_t begin = 0;
  std::uint64_t size = 0;   // 0: unknown
  std::uint64_t limit = 0;  // where its section ends
  std::string_view name;
  Kind kind = Kind::kFunction;
  Binding binding = Binding::kGlobal;
};

struct FunctionRange {
  CodeExtent code;
  std::uint64_t function = 0;  // where the function begins; this may be a piece of it
  std::string_view name;       // empty: it has no symbol
};

// Disjoint, in ascending order. `unwound`: the entries of the unwind table.
[[nodiscard]] std::vector<FunctionRange> function_ranges(std::vector<Symbol> symbols,
                                                         std::vector<CodeExtent> unwound);

// `name` without what compilers and linkers add for a piece or a variant of a function (".cold",
// ".part.0", ".constprop.0", "@@VERSION").
[[nodiscard]] std::string_view without_variant(std::string_view name);

}  // namespace coz::linetable

#endif  // LINETABLE_SYMBOLS_SYMBOL_RANGES_H
