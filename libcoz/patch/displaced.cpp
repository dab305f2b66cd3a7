#include "patch/displaced.h"

#include <cstring>

namespace coz {
namespace {

using Kind = Instruction::Kind;

constexpr std::size_t kRcx = 1, kRsp = 4;

bool holds(unsigned condition, std::uint64_t flags) noexcept {
  const bool carry = (flags & 0x001U) != 0;
  const bool parity = (flags & 0x004U) != 0;
  const bool zero = (flags & 0x040U) != 0;
  const bool sign = (flags & 0x080U) != 0;
  const bool overflow = (flags & 0x800U) != 0;
  bool result = false;
  switch (condition >> 1) {
    case 0:
      result = overflow;
      break;
    case 1:
      result = carry;
      break;
    case 2:
      result = zero;
      break;
    case 3:
      result = carry || zero;
      break;
    case 4:
      result = sign;
      break;
    case 5:
      result = parity;
      break;
    case 6:
      result = sign != overflow;
      break;
    default:
      result = zero || sign != overflow;
      break;
  }
  return result != ((condition & 1U) != 0);
}

// loopne, loope, loop, jrcxz.
bool counts_on(unsigned which, Registers& registers) noexcept {
  std::uint64_t& counter = registers.general[kRcx];
  if (which == 3) return counter == 0;
  --counter;
  const bool zero = (registers.flags & 0x040U) != 0;
  return counter != 0 && (which == 2 || zero == (which == 1));
}

std::uint64_t load(std::uint64_t address) noexcept {
  std::uint64_t value = 0;
  std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
  return value;
}

std::uint64_t value_of(const Instruction::Operand& operand, std::uint64_t next,
                       const Registers& registers) noexcept {
  if (operand.is_register) return registers.general[operand.base];
  auto address = static_cast<std::uint64_t>(static_cast<std::int64_t>(operand.displacement));
  if (operand.base == Instruction::Operand::kRip) {
    address += next;
  } else if (operand.base != Instruction::Operand::kNone) {
    address += registers.general[operand.base];
  }
  if (operand.index != Instruction::Operand::kNone) {
    address += registers.general[operand.index] * operand.scale;
  }
  return load(address);
}

void push(std::uint64_t value, Registers& registers) noexcept {
  registers.general[kRsp] -= sizeof value;
  std::memcpy(reinterpret_cast<void*>(registers.general[kRsp]), &value, sizeof value);
}

}  // namespace

bool relocate(const Instruction& instruction, std::uint64_t address, std::uint64_t new_address,
              std::span<std::uint8_t> copy) noexcept {
  const std::size_t at = instruction.rip_displacement;
  if (at == 0) return true;
  std::int32_t displacement = 0;
  std::memcpy(&displacement, copy.data() + at, sizeof displacement);
  const std::int64_t moved =
      displacement + static_cast<std::int64_t>(address) - static_cast<std::int64_t>(new_address);
  displacement = static_cast<std::int32_t>(moved);
  std::memcpy(copy.data() + at, &displacement, sizeof displacement);
  return displacement == moved;
}

bool fill_slot(const Instruction& instruction, std::span<const std::uint8_t> bytes,
               std::uint64_t address, std::uint64_t slot_address, Slot& out) noexcept {
  // jmp [rip + 0], and where to.
  constexpr std::array<std::uint8_t, 6> kJumpBack = {0xff, 0x25, 0, 0, 0, 0};
  static_assert(kLongestInstruction + kJumpBack.size() + sizeof(std::uint64_t) <= kSlotSize);
  out.fill(0xcc);
  std::memcpy(out.data(), bytes.data(), instruction.length);
  if (!relocate(instruction, address, slot_address, out)) return false;
  const std::uint64_t back = address + instruction.length;
  std::memcpy(out.data() + instruction.length, kJumpBack.data(), kJumpBack.size());
  std::memcpy(out.data() + instruction.length + kJumpBack.size(), &back, sizeof back);
  return true;
}

void emulate(const Instruction& instruction, std::uint64_t address, Registers& registers) noexcept {
  const std::uint64_t next = address + instruction.length;
  const std::uint64_t target =
      next + static_cast<std::uint64_t>(std::int64_t{instruction.relative});
  registers.rip = next;
  switch (instruction.kind) {
    case Kind::kJump:
      registers.rip = target;
      break;
    case Kind::kCondition:
      if (holds(instruction.condition, registers.flags)) registers.rip = target;
      break;
    case Kind::kCount:
      if (counts_on(instruction.condition, registers)) registers.rip = target;
      break;
    case Kind::kCall:
      push(next, registers);
      registers.rip = target;
      break;
    case Kind::kIndirectCall: {
      // Read before the push: the operand may be relative to rsp.
      const std::uint64_t callee = value_of(instruction.operand, next, registers);
      push(next, registers);
      registers.rip = callee;
      break;
    }
    case Kind::kPlain:
    case Kind::kUnmovable:
      break;
  }
}

}  // namespace coz
