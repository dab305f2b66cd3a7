// What an instruction reads and writes in memory, by its bytes and the registers before it.
//
// Plain logic over Zydis; x86-64 only.
#ifndef LINETABLE_ACCESSES_MEMORY_OPERANDS_H
#define LINETABLE_ACCESSES_MEMORY_OPERANDS_H

#include <sys/user.h>

#include <cstdint>
#include <span>
#include <vector>

#include "linetable/accesses/alias_window.h"

namespace coz::linetable {

// Puts the accesses into `out`, loads before stores, instead of what was there. False for bytes
// that are no instruction. `code`: from the instruction on; `registers`: rip is where it stands.
bool find_accesses(std::span<const std::uint8_t> code, const user_regs_struct& registers,
                   std::vector<Access>& out);

}  // namespace coz::linetable

#endif  // LINETABLE_ACCESSES_MEMORY_OPERANDS_H
