// Decodes x86-64 instructions, by Zydis, and plans how one is executed while a breakpoint
// instruction stands in its place (docs/decisions/zydis.md).
//
// Addresses are in the file's own address space. Plain logic.
#ifndef LINETABLE_PLAN_PATCH_PLANNER_H
#define LINETABLE_PLAN_PATCH_PLANNER_H

#include <cstdint>
#include <optional>
#include <span>

#include "common/patch_plan.h"

namespace coz::linetable {

struct InstructionOutline {
  std::uint8_t length = 0;
  // Where a jump by a fixed distance leads, conditional or not. A call is no jump.
  std::optional<std::uint64_t> jump_target;
  bool falls_through = true;  // whether the next instruction may follow
};

// Of the instruction at `address`, where `code` begins; nullopt when that is no complete one.
[[nodiscard]] std::optional<InstructionOutline> outline_instruction(
    std::span<const std::uint8_t> code, std::uint64_t address);

// Either a plan, or the reason why the instruction can only be executed where it stands.
struct PlannedPatch {
  std::optional<PatchPlan> plan;
  const char* refusal = "";
};

// For the instruction at `address`, where `code` begins.
[[nodiscard]] PlannedPatch plan_patch(std::span<const std::uint8_t> code, std::uint64_t address);

}  // namespace coz::linetable

#endif  // LINETABLE_PLAN_PATCH_PLANNER_H
