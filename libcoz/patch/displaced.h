// Executing an instruction out of its place, where a breakpoint stands instead (breakpoints.h).
//
// Most instructions run as a copy in a slot, followed by a jump back. What depends on its own
// address (jumps, calls) is not copied: emulate() does what it would have done. Plain logic;
// emulate() is signal-safe.
#ifndef LIBCOZ_PATCH_DISPLACED_H
#define LIBCOZ_PATCH_DISPLACED_H

#include <array>
#include <cstdint>
#include <span>

#include "patch/instruction.h"

namespace coz {

struct Registers {
  std::array<std::uint64_t, 16> general{};  // rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 ... r15
  std::uint64_t rip = 0;
  std::uint64_t flags = 0;
};

inline constexpr std::size_t kSlotSize = 32;
using Slot = std::array<std::uint8_t, kSlotSize>;

[[nodiscard]] constexpr bool is_emulated(const Instruction& instruction) noexcept {
  return instruction.kind != Instruction::Kind::kPlain &&
         instruction.kind != Instruction::Kind::kUnmovable;
}

// Makes `copy`, of the instruction at `address`, mean the same at `new_address`. False when that is
// too far away for an operand relative to rip.
[[nodiscard]] bool relocate(const Instruction& instruction, std::uint64_t address,
                            std::uint64_t new_address, std::span<std::uint8_t> copy) noexcept;

// What the slot at `slot_address` must hold to do what the instruction `bytes`, at `address`, does
// and then go on behind it. False when that is too far away for an operand relative to rip.
[[nodiscard]] bool fill_slot(const Instruction& instruction, std::span<const std::uint8_t> bytes,
                             std::uint64_t address, std::uint64_t slot_address, Slot& out) noexcept;

// Does what the instruction at `address` would have done. Reads and writes the memory that it would
// have: a call pushes its return address.
void emulate(const Instruction& instruction, std::uint64_t address, Registers& registers) noexcept;

}  // namespace coz

#endif  // LIBCOZ_PATCH_DISPLACED_H
