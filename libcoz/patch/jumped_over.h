// The instructions that a jump takes the place of: five bytes of them, or a few more.
//
// Plain logic; signal-safe.
#ifndef LIBCOZ_PATCH_JUMPED_OVER_H
#define LIBCOZ_PATCH_JUMPED_OVER_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "patch/instruction.h"

namespace coz {

inline constexpr std::size_t kJumpSize = 5;  // jmp rel32

struct JumpedOver {
  std::array<Instruction, kJumpSize> instructions;
  std::size_t count = 0;
  std::size_t length = 0;  // of all of them
};

// Enough of what `bytes` begins with. nullopt when one of them cannot be executed in a trampoline
// (trampoline.h), or control does not simply go from each to the next.
[[nodiscard]] std::optional<JumpedOver> jumped_over(std::span<const std::uint8_t> bytes) noexcept;

// A jump to what a register or memory holds: a jump table, or a call in the place of a return.
[[nodiscard]] bool is_indirect_jump(std::span<const std::uint8_t> instruction) noexcept;

}  // namespace coz

#endif  // LIBCOZ_PATCH_JUMPED_OVER_H
