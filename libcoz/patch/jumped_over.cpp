#include "patch/jumped_over.h"

namespace coz {
namespace {

using Kind = Instruction::Kind;

bool is_prefix(std::uint8_t byte) noexcept {
  switch (byte) {
    case 0x26:
    case 0x2e:
    case 0x36:
    case 0x3e:
    case 0x64:
    case 0x65:
    case 0x66:
    case 0x67:
    case 0xf0:
    case 0xf2:
    case 0xf3:
      return true;
    default:
      return (byte & 0xf0) == 0x40;
  }
}

std::span<const std::uint8_t> without_prefixes(std::span<const std::uint8_t> bytes) noexcept {
  while (!bytes.empty() && is_prefix(bytes.front())) bytes = bytes.subspan(1);
  return bytes;
}

// Returns, traps and the like: what stands behind is reached from elsewhere, if at all.
bool ends_here(std::span<const std::uint8_t> instruction) noexcept {
  const auto bytes = without_prefixes(instruction);
  if (bytes.empty()) return true;
  if (bytes[0] == 0xc3 || bytes[0] == 0xc2 || bytes[0] == 0xf4) return true;
  if (bytes[0] == 0x0f && bytes.size() > 1 && bytes[1] == 0x0b) return true;
  return is_indirect_jump(instruction);
}

}  // namespace

bool is_indirect_jump(std::span<const std::uint8_t> instruction) noexcept {
  const auto bytes = without_prefixes(instruction);
  if (bytes.size() < 2 || bytes[0] != 0xff) return false;
  const unsigned which = (bytes[1] >> 3) & 7U;
  return which == 4 || which == 5;
}

std::optional<JumpedOver> jumped_over(std::span<const std::uint8_t> bytes) noexcept {
  JumpedOver over;
  while (over.length < kJumpSize) {
    const auto rest = bytes.subspan(over.length);
    const auto instruction = decode(rest);
    if (!instruction) return std::nullopt;
    over.instructions[over.count++] = *instruction;
    over.length += instruction->length;
    const bool is_last = over.length >= kJumpSize;
    switch (instruction->kind) {
      case Kind::kPlain:
        if (!is_last && ends_here(rest.first(instruction->length))) return std::nullopt;
        break;
      case Kind::kCondition:
        break;
      case Kind::kJump:
      case Kind::kCall:  // whose return address must not lie within
        if (!is_last) return std::nullopt;
        break;
      case Kind::kCount:
      case Kind::kIndirectCall:
      case Kind::kUnmovable:
        return std::nullopt;
    }
  }
  return over;
}

}  // namespace coz
