#include "linetable/plan/patch_planner.h"

#include <Zydis/Zydis.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>
#include <vector>

namespace coz::linetable {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr const char* kUnknown = "the instruction there is not known";
constexpr const char* kTied = "the instruction there cannot be executed elsewhere";

struct Decoded {
  ZydisDecodedInstruction instruction;
  std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands;

  [[nodiscard]] const ZydisDecodedOperand& first() const { return operands[0]; }

  // A jump, call or the like by a fixed distance.
  [[nodiscard]] bool is_relative_branch() const {
    return instruction.operand_count_visible != 0 && first().type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
           first().imm.is_relative != 0;
  }

  // Whether it has an operand in memory at a distance from itself.
  [[nodiscard]] bool names_rip() const {
    return std::any_of(
        operands.begin(), operands.begin() + instruction.operand_count,
        [](const ZydisDecodedOperand& operand) {
          return operand.type == ZYDIS_OPERAND_TYPE_MEMORY &&
                 (operand.mem.base == ZYDIS_REGISTER_RIP || operand.mem.base == ZYDIS_REGISTER_EIP);
        });
  }

  [[nodiscard]] bool has_prefix(std::uint8_t prefix) const {
    const auto& prefixes = instruction.raw.prefixes;
    return std::any_of(prefixes, prefixes + instruction.raw.prefix_count,
                       [&](const auto& each) { return each.value == prefix; });
  }

  // Only for one of those.
  [[nodiscard]] std::uint64_t target(std::uint64_t address) const {
    return address + instruction.length + static_cast<std::uint64_t>(first().imm.value.s);
  }
};

std::optional<Decoded> decode(std::span<const std::uint8_t> code) {
  static const ZydisDecoder decoder = [] {
    ZydisDecoder made;
    ZydisDecoderInit(&made, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return made;
  }();
  Decoded out;
  const ZyanStatus status = ZydisDecoderDecodeFull(&decoder, code.data(), code.size(),
                                                   &out.instruction, out.operands.data());
  return ZYAN_SUCCESS(status) ? std::optional(out) : std::nullopt;
}

// Code that goes to a slot instead of the original.
class SlotCode {
 public:
  explicit SlotCode(PatchPlan& plan) : plan_(plan) {}

  SlotCode& put(std::span<const std::uint8_t> bytes) {
    plan_.code.insert(plan_.code.end(), bytes.begin(), bytes.end());
    return *this;
  }
  SlotCode& put(std::initializer_list<std::uint8_t> bytes) {
    return put(std::span(bytes.begin(), bytes.size()));
  }
  // A 64-bit address, which the runtime corrects by where the file is loaded.
  SlotCode& put_address(std::uint64_t address) {
    plan_.addresses_at.push_back(static_cast<std::uint8_t>(plan_.code.size()));
    for (int shift = 0; shift < 64; shift += 8) {
      plan_.code.push_back(static_cast<std::uint8_t>(address >> shift));
    }
    return *this;
  }
  // jmp [rip + 0], and the address behind it: 14 bytes.
  SlotCode& put_jump(std::uint64_t target) {
    return put({0xff, 0x25, 0, 0, 0, 0}).put_address(target);
  }
  // A branch by 8 bits over one of those.
  SlotCode& put_branch_over_jump(unsigned opcode) {
    return put({static_cast<std::uint8_t>(opcode), 14});
  }

 private:
  PatchPlan& plan_;
};

// Jumps and calls by a fixed distance. What follows `code` is the jump to the next instruction.
bool plan_relative_branch(const Decoded& decoded, std::uint64_t address, PatchPlan& plan) {
  const std::uint64_t target = decoded.target(address);
  const std::uint8_t opcode = decoded.instruction.opcode;
  SlotCode code(plan);
  switch (decoded.instruction.mnemonic) {
    case ZYDIS_MNEMONIC_JMP:
      code.put_jump(target);
      return true;
    case ZYDIS_MNEMONIC_CALL:
      // push [rip + 6], jmp [rip + 8]: the return address is that of the original.
      code.put({0xff, 0x35, 6, 0, 0, 0, 0xff, 0x25, 8, 0, 0, 0});
      code.put_address(address + decoded.instruction.length).put_address(target);
      plan.pushed = 8;
      return true;
    case ZYDIS_MNEMONIC_LOOP:
    case ZYDIS_MNEMONIC_LOOPE:
    case ZYDIS_MNEMONIC_LOOPNE:
    case ZYDIS_MNEMONIC_JRCXZ:
      // They have no opposites: they branch over a branch over the jump.
      code.put({opcode, 2}).put_branch_over_jump(0xeb).put_jump(target);
      return true;
    default:
      if (decoded.instruction.meta.category != ZYDIS_CATEGORY_COND_BR) return false;
      // The lowest bit of the opcode makes the opposite condition.
      code.put_branch_over_jump(0x70U | ((opcode & 15U) ^ 1U)).put_jump(target);
      return true;
    case ZYDIS_MNEMONIC_XBEGIN:
      return false;
  }
}

// `call operand` as a push of the return address and `jmp operand`.
bool plan_indirect_call(const Decoded& decoded, std::uint64_t address, PatchPlan& plan) {
  const bool is_memory = decoded.first().type == ZYDIS_OPERAND_TYPE_MEMORY;
  if (!is_memory && decoded.first().reg.value == ZYDIS_REGISTER_RSP) return false;
  ZydisEncoderRequest request;
  if (!ZYAN_SUCCESS(ZydisEncoderDecodedInstructionToEncoderRequest(
          &decoded.instruction, decoded.operands.data(), decoded.instruction.operand_count_visible,
          &request))) {
    return false;
  }
  request.mnemonic = ZYDIS_MNEMONIC_JMP;
  // The push has moved the stack by then.
  if (is_memory && request.operands[0].mem.base == ZYDIS_REGISTER_RSP) {
    request.operands[0].mem.displacement += 8;
  }
  Bytes jump(ZYDIS_MAX_INSTRUCTION_LENGTH);
  ZyanUSize size = jump.size();
  if (!ZYAN_SUCCESS(ZydisEncoderEncodeInstruction(&request, jump.data(), &size))) return false;
  jump.resize(size);

  constexpr std::size_t kPushSize = 6;
  SlotCode code(plan);
  code.put({0xff, 0x35, static_cast<std::uint8_t>(size), 0, 0, 0});
  if (decoded.names_rip()) {
    const auto encoded = decode(jump);
    if (!encoded) return false;
    // What it names is as far from the end of the original as before.
    const std::uint8_t at = encoded->instruction.raw.disp.offset;
    std::int64_t distance = encoded->instruction.raw.disp.value;
    distance += decoded.instruction.length - static_cast<std::int64_t>(kPushSize + size);
    for (std::size_t i = 0; i < 4; ++i) {
      jump[at + i] = static_cast<std::uint8_t>(distance >> (8 * i));
    }
    plan.displacement_at = static_cast<std::uint8_t>(kPushSize + at);
  }
  code.put(jump).put_address(address + decoded.instruction.length);
  plan.pushed = 8;
  return true;
}

// Whether it means something else at another address, in a way that cannot be corrected.
bool is_tied(const Decoded& decoded) {
  const auto& instruction = decoded.instruction;
  if (instruction.meta.category == ZYDIS_CATEGORY_INTERRUPT ||
      instruction.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR) {
    return true;
  }
  // What these prefixes make of a branch or of rip depends on who made the processor.
  const bool is_branch = instruction.meta.branch_type != ZYDIS_BRANCH_TYPE_NONE;
  return (decoded.has_prefix(0x66) && is_branch) ||
         (decoded.has_prefix(0x67) && (is_branch || decoded.names_rip()));
}

bool fill(const Decoded& decoded, std::uint64_t address, PatchPlan& plan) {
  if (is_tied(decoded)) return false;
  if (decoded.is_relative_branch()) return plan_relative_branch(decoded, address, plan);
  if (decoded.instruction.mnemonic == ZYDIS_MNEMONIC_CALL) {
    return plan_indirect_call(decoded, address, plan);
  }
  plan.code = plan.original;
  if (decoded.names_rip()) plan.displacement_at = decoded.instruction.raw.disp.offset;
  return true;
}

}  // namespace

std::optional<InstructionOutline> outline_instruction(std::span<const std::uint8_t> code,
                                                      std::uint64_t address) {
  const auto decoded = decode(code);
  if (!decoded) return std::nullopt;
  InstructionOutline outline;
  outline.length = decoded->instruction.length;
  const ZydisInstructionCategory category = decoded->instruction.meta.category;
  outline.falls_through = category != ZYDIS_CATEGORY_UNCOND_BR && category != ZYDIS_CATEGORY_RET &&
                          decoded->instruction.mnemonic != ZYDIS_MNEMONIC_UD2;
  if (decoded->is_relative_branch() && decoded->instruction.mnemonic != ZYDIS_MNEMONIC_CALL &&
      decoded->instruction.mnemonic != ZYDIS_MNEMONIC_XBEGIN) {
    outline.jump_target = decoded->target(address);
  }
  return outline;
}

PlannedPatch plan_patch(std::span<const std::uint8_t> code, std::uint64_t address) {
  const auto decoded = decode(code);
  if (!decoded) return {std::nullopt, kUnknown};
  PatchPlan plan;
  plan.original.assign(code.begin(), code.begin() + decoded->instruction.length);
  if (!fill(*decoded, address, plan)) return {std::nullopt, kTied};
  return {std::move(plan), ""};
}

}  // namespace coz::linetable
