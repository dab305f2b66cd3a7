// From symbols and unwind tables to stretches of code with the function that each belongs to.
//
// Where there is no debug information these are all that is known of functions, and they were not
// made for this: symbols overlap, lie in each other, share an address, or have no size. Plain
// logic, without ELF.
//
//   - Of symbols at one address (aliases) one gives the name: a function before an ifunc, whose
//   code
//     is only the choice among functions, and that before a label; then the most global; then the
//     one with the fewest underscores in front. The largest size counts.
//   - Of symbols that overlap, the one that begins last has the code; where it ends, the one around
//     it goes on.
//   - A symbol without size, as assembler writers leave them, ends with its entry in the unwind
//     table, and in any case where the next symbol or entry begins.
//   - A label inside a function (a symbol of no type) is no function.
//   - Entries of the unwind table tell functions without symbol, which then have no name.
#ifndef LINETABLE_SYMBOLS_SYMBOL_RANGES_H
#define LINETABLE_SYMBOLS_SYMBOL_RANGES_H

#include <cstdint>
#include <string_view>
#include <vector>

#include "linetable/elf/code_extent.h"

namespace coz::linetable {

struct Symbol {
  // In each, better ones come first.
  enum class Kind { kFunction, kIfunc, kLabel };
  enum class Binding { kGlobal, kWeak, kLocal };

  std::uint64_t begin = 0;
  std::uint64_t size = 0;   // 0: not known
  std::uint64_t limit = 0;  // where its section ends
  std::string_view name;
  Kind kind = Kind::kFunction;
  Binding binding = Binding::kGlobal;
};

struct FunctionRange {
  CodeExtent code;
  std::uint64_t function = 0;  // where the function begins, of which this may be a piece
  std::string_view name;       // empty: it has no symbol
};

// Disjoint, in ascending order. `unwound`: the entries of the unwind table.
[[nodiscard]] std::vector<FunctionRange> function_ranges(std::vector<Symbol> symbols,
                                                         std::vector<CodeExtent> unwound);

// `name` without what compilers and linkers add to it for a piece or a variant of a function
// (".cold", ".part.0", ".constprop.0", "@@VERSION").
[[nodiscard]] std::string_view without_variant(std::string_view name);

}  // namespace coz::linetable

#endif  // LINETABLE_SYMBOLS_SYMBOL_RANGES_H
