// Debug information that libdw reads, closed with its owner. libdw ends the process where memory is
// refused to it; here with the answer that says so (process_limits.h).
#ifndef LINETABLE_DWARF_DWARF_HANDLE_H
#define LINETABLE_DWARF_DWARF_HANDLE_H

#include <elfutils/libdw.h>

#include <cerrno>
#include <cstddef>
#include <memory>

#include "linetable/machine/process_limits.h"

namespace coz::linetable {

struct DwarfCloser {
  void operator()(Dwarf* dwarf) const noexcept { dwarf_end(dwarf); }
};
using DwarfHandle = std::unique_ptr<Dwarf, DwarfCloser>;

// Null, with dwarf_errno() set, where `elf` holds none that can be read.
inline DwarfHandle open_dwarf(Elf* elf) {
  DwarfHandle dwarf(dwarf_begin_elf(elf, DWARF_C_READ, nullptr));
  if (dwarf != nullptr) dwarf_new_oom_handler(dwarf.get(), end_out_of_memory);
  return dwarf;
}

// The rows of a unit, or false where they cannot be read. For want of memory the process ends: rows
// that nobody has seen would be missing in the table.
inline bool read_rows(Dwarf_Die& unit, Dwarf_Lines*& rows, std::size_t& count) {
  errno = 0;
  if (dwarf_getsrclines(&unit, &rows, &count) == 0) return true;
  if (errno == ENOMEM) end_out_of_memory();
  return false;
}

// Its source files, likewise. libdw reads both at once, and remembers if it could not.
inline bool read_files(Dwarf_Die& unit, Dwarf_Files*& files, std::size_t& count) {
  errno = 0;
  if (dwarf_getsrcfiles(&unit, &files, &count) == 0) return true;
  if (errno == ENOMEM) end_out_of_memory();
  return false;
}

}  // namespace coz::linetable

#endif  // LINETABLE_DWARF_DWARF_HANDLE_H
