// A slot: where an instruction is executed whose place a breakpoint instruction has taken.
//
// It holds the code of the helper's plan (common/patch_plan.h), corrected for where it stands and
// where the file is loaded, and then a jump to the instruction behind the original. Plain logic.
#ifndef LIBCOZ_PATCH_SLOT_H
#define LIBCOZ_PATCH_SLOT_H

#include <array>
#include <cstddef>
#include <cstdint>

#include "common/patch_plan.h"

namespace coz {

inline constexpr std::size_t kSlotSize = 64;
using Slot = std::array<std::uint8_t, kSlotSize>;

// In memory: where the original stands, by how much the file's addresses are moved, and where the
// slot is to be.
struct SlotAddresses {
  std::uint64_t original = 0;
  std::uint64_t load_bias = 0;
  std::uint64_t slot = 0;
};

// False when an operand relative to rip is out of the slot's reach.
[[nodiscard]] bool fill_slot(const PatchPlan& plan, const SlotAddresses& addresses,
                             Slot& out) noexcept;

}  // namespace coz

#endif  // LIBCOZ_PATCH_SLOT_H
