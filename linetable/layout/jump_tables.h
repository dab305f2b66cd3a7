// Jump tables and arrays of labels in a program's data: addresses in the middle of functions.
//
// A table is known by what it holds. It begins where an instruction of a function with an indirect
// jump points to; each entry leads to an instruction of that function, or of a part of it that the
// compiler put elsewhere; and it ends at the latest where something else begins. Two entries that
// fit by chance are one in 10^12. Plain logic.
#ifndef LINETABLE_LAYOUT_JUMP_TABLES_H
#define LINETABLE_LAYOUT_JUMP_TABLES_H

#include <cstdint>
#include <functional>
#include <vector>

#include "linetable/layout/code_scan.h"
#include "linetable/layout/program_code.h"

namespace coz::linetable {

struct TableEntry {
  std::uint32_t at = 0;
  std::uint32_t target = 0;
  std::uint32_t width = 0;  // 4: a distance from `base`; 8: an address
  std::uint32_t base = 0;
};

// Whether a piece of code, by its index in CodeScan::code, is a part of the same function as what
// stands at an address.
using SameFunction = std::function<bool(std::size_t code, std::uint32_t address)>;

// Of all tables, ascending, each once. Their targets become targets of jumps in `scan`.
[[nodiscard]] std::vector<TableEntry> find_tables(const ProgramCode& program, CodeScan& scan,
                                                  const SameFunction& same_function);

}  // namespace coz::linetable

#endif  // LINETABLE_LAYOUT_JUMP_TABLES_H
