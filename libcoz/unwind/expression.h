// Evaluates a DWARF expression of an unwind table (DWARF 5, section 2.5). It says where a frame
// begins, or a register was saved, where that is no fixed distance: linkers write one for the
// procedure linkage table, compilers for frames that they align.
//
// Signal-safe.
#ifndef LIBCOZ_UNWIND_EXPRESSION_H
#define LIBCOZ_UNWIND_EXPRESSION_H

#include <cstdint>

#include "unwind/checked_memory.h"
#include "unwind/machine.h"
#include "unwind/table_cursor.h"

namespace coz {

// `first`: the value on the stack at the start, or null for none. False if the expression is
// broken, has an operation that does not belong in an unwind table, or reads what is not readable.
bool evaluate(TableBytes expression, const FrameRegisters& registers, const std::uintptr_t* first,
              CheckedMemory& memory, std::uintptr_t& out) noexcept;

}  // namespace coz

#endif  // LIBCOZ_UNWIND_EXPRESSION_H
