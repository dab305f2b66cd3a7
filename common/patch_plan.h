// What the helper tells the runtime about an instruction that a breakpoint instruction replaces:
// the plan of a patch (docs/decisions/zydis.md).
//
// The helper decodes the instruction and writes code that has the same effect elsewhere, in a slot
// near the program's code. The runtime compares `original` with the memory, copies `code` into a
// slot, corrects what depends on addresses, and appends a jump to the next instruction
// (libcoz/patch/slot.h). It decodes nothing.
//
// As text a plan is ORIGINAL/CODE/FIXUPS: two numbers of bytes in hexadecimal, CODE empty when it
// is the same as ORIGINAL, and any of d, a, p, each with a decimal number: the members below in
// their order. Plain values; encoding and parsing allocate.
#ifndef COMMON_PATCH_PLAN_H
#define COMMON_PATCH_PLAN_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coz {

inline constexpr std::size_t kMaxInstruction = 15;
inline constexpr std::size_t kMaxPatchCode = 48;

struct PatchPlan {
  std::vector<std::uint8_t> original;  // the instruction, as the file has it
  std::vector<std::uint8_t> code;      // has its effect, and then runs into the jump behind it
  // Offset in `code` of a 32-bit displacement relative to rip, whose value is right if `code`
  // stands at the address of the original. 0: there is none.
  std::uint8_t displacement_at = 0;
  // Offsets in `code` of 64-bit addresses, in the file's own address space.
  std::vector<std::uint8_t> addresses_at;
  // How much more is on the stack after the first instruction of several in `code` than there was
  // before: a call has pushed its return address when it jumps. 0 or 8.
  std::uint8_t pushed = 0;

  bool operator==(const PatchPlan&) const = default;
};

[[nodiscard]] std::string encode(const PatchPlan& plan);

// nullopt for text that is no plan, or one whose fixups lie outside its code.
[[nodiscard]] std::optional<PatchPlan> parse_patch_plan(std::string_view text);

}  // namespace coz

#endif  // COMMON_PATCH_PLAN_H
