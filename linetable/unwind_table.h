// The extents of code that .eh_frame has entries for: one for each function, or piece of one.
#ifndef LINETABLE_UNWIND_TABLE_H
#define LINETABLE_UNWIND_TABLE_H

#include <vector>

#include "symbol_ranges.h"

struct Elf;

namespace coz::linetable {

struct UnwindTable {
  std::vector<CodeExtent> functions;
  std::vector<CodeExtent> signal_frames;      // the code that handlers of signals return to
  std::vector<CodeExtent> with_landing_pads;  // of `functions`, those with an exception table
};

// In no particular order. What is damaged, or encoded in a way that compilers do not use for code,
// is left out. The file must be of 64 bits.
[[nodiscard]] UnwindTable read_unwind_table(Elf* elf);

}  // namespace coz::linetable

#endif  // LINETABLE_UNWIND_TABLE_H
