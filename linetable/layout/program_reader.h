// From an ELF file to what the planner of layouts knows of a program, or why it cannot be moved.
#ifndef LINETABLE_LAYOUT_PROGRAM_READER_H
#define LINETABLE_LAYOUT_PROGRAM_READER_H

#include "linetable/elf/elf_file.h"
#include "linetable/layout/program_code.h"

namespace coz::linetable {

// Why a program's functions cannot be moved, and what the user can do. Both empty for none.
struct Refusal {
  const char* reason = nullptr;  // to follow the file's name
  const char* remedy = "";
};

// `out` points into `file`.
[[nodiscard]] Refusal read_program(const ElfFile& file, ProgramCode& out);

}  // namespace coz::linetable

#endif  // LINETABLE_LAYOUT_PROGRAM_READER_H
