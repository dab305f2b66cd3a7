// The extents of code that .eh_frame has entries for: one for each function, or piece of one.
//
// The entries are read by the unwinder's own code (libcoz/unwind), since libdw does not tell which
// code an entry is for.
#ifndef LINETABLE_ELF_EH_FRAME_H
#define LINETABLE_ELF_EH_FRAME_H

#include <vector>

#include "linetable/elf/code_extent.h"

struct Elf;

namespace coz::linetable {

struct EhFrame {
  std::vector<CodeExtent> functions;
  std::vector<CodeExtent> signal_frames;  // the code that signal handlers return to
};

// In no particular order. What is damaged, or encoded in a way that compilers do not use for code,
// is left out. Empty for a file that is not of 64 bits.
[[nodiscard]] EhFrame read_eh_frame(Elf* elf);

}  // namespace coz::linetable

#endif  // LINETABLE_ELF_EH_FRAME_H
