// Debug information that libdw reads, and its units.
//
// libdw ends the process when memory runs out; here it says that first (process_limits.h).
#ifndef LINETABLE_DWARF_UNITS_H
#define LINETABLE_DWARF_UNITS_H

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "linetable/machine/process_limits.h"

namespace coz::linetable {

struct DwarfCloser {
  void operator()(Dwarf* dwarf) const noexcept { dwarf_end(dwarf); }
};
using DwarfHandle = std::unique_ptr<Dwarf, DwarfCloser>;

// Null, with dwarf_errno() set, where `elf` holds none that can be read. `elf` must outlive it.
inline DwarfHandle open_dwarf(Elf* elf) {
  DwarfHandle dwarf(dwarf_begin_elf(elf, DWARF_C_READ, nullptr));
  if (dwarf == nullptr) return dwarf;
  dwarf_new_oom_handler(dwarf.get(), end_out_of_memory);
  // What dwz moved to a shared file, where libdw finds that.
  if (Dwarf* shared = dwarf_getalt(dwarf.get())) dwarf_new_oom_handler(shared, end_out_of_memory);
  return dwarf;
}

// Calls visit(Dwarf_Die& unit, Dwarf_Die& functions) for each compilation unit. `functions` is the
// entry that the unit's functions are below: with -gsplit-dwarf one in a .dwo file, else the unit.
// False when the rest is damaged, with dwarf_errno() set.
template <typename Visit>
bool for_each_unit(Dwarf* dwarf, Visit visit) {
  Dwarf_CU* cursor = nullptr;
  Dwarf_Die unit{};
  Dwarf_Die split{};
  int status = 0;
  while ((status = dwarf_get_units(dwarf, cursor, &cursor, nullptr, nullptr, &unit, &split)) == 0) {
    const int tag = dwarf_tag(&unit);
    if (tag != DW_TAG_compile_unit && tag != DW_TAG_skeleton_unit) continue;
    visit(unit, split.addr != nullptr ? split : unit);
  }
  return status > 0;
}

// Which unit describes a function's body.
//
// Of an inline function that several units have, linkers keep one body, mostly the first. GNU ld
// lets the debug information of all of these units point to it: it would count once for each.
class BodyUnits {
 public:
  // Whether no earlier unit has described the body that is entered at `entry`. `functions`: the
  // entry that the unit's functions are below.
  [[nodiscard]] bool is_first(std::uint64_t entry, const Dwarf_Die& functions) {
    return unit_of_.try_emplace(entry, functions.addr).first->second == functions.addr;
  }

 private:
  std::map<std::uint64_t, const void*> unit_of_;
};

// The rows of a unit, or false where they cannot be read. For want of memory the process ends: rows
// that nobody has seen would be missing in the table.
inline bool read_rows(Dwarf_Die& unit, Dwarf_Lines*& rows, std::size_t& count) {
  errno = 0;
  if (dwarf_getsrclines(&unit, &rows, &count) == 0) return true;
  if (errno == ENOMEM) end_out_of_memory();
  return false;
}

// A unit's source files, likewise. libdw reads both at once, and remembers if it could not.
inline bool read_files(Dwarf_Die& unit, Dwarf_Files*& files, std::size_t& count) {
  errno = 0;
  if (dwarf_getsrcfiles(&unit, &files, &count) == 0) return true;
  if (errno == ENOMEM) end_out_of_memory();
  return false;
}

// Whether the functions of `unit`, as for_each_unit() has them, are in a file that was not found.
[[nodiscard]] inline bool lacks_split_unit(Dwarf_Die& unit, const Dwarf_Die& functions) {
  return functions.addr == unit.addr && (dwarf_hasattr(&unit, DW_AT_dwo_name) != 0 ||
                                         dwarf_hasattr(&unit, DW_AT_GNU_dwo_name) != 0);
}

}  // namespace coz::linetable

#endif  // LINETABLE_DWARF_UNITS_H
