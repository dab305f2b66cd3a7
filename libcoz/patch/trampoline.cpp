#include "patch/trampoline.h"

#include <cstring>

#include "patch/displaced.h"

namespace coz {
namespace {

using Kind = Instruction::Kind;

// Behind the code, in this order.
enum Literal : std::uint8_t { kPlace, kSite, kEntry, kReturn };
constexpr std::size_t kLiterals = kTrampolineSize - 4 * sizeof(std::uint64_t);

constexpr std::size_t at_literal(Literal which) noexcept {
  return kLiterals + which * sizeof(std::uint64_t);
}

// jmp to the next instruction: the distance is what changes when counting ends.
constexpr std::array<std::uint8_t, 2> kSwitch = {0xeb, 0};
// lea -128(%rsp), %rsp: leaf functions keep variables there.
constexpr std::array<std::uint8_t, 5> kPassRedZone = {0x48, 0x8d, 0x64, 0x24, 0x80};
// push [rip + …], call [rip + …].
constexpr std::array<std::uint8_t, 2> kPush = {0xff, 0x35}, kCallThrough = {0xff, 0x15};
// lea 144(%rsp), %rsp: unlike an addition, it leaves the flags alone.
constexpr std::array<std::uint8_t, 8> kDrop = {0x48, 0x8d, 0xa4, 0x24, 0x90, 0, 0, 0};
constexpr std::uint64_t kRedZone = 128;
constexpr std::size_t kThrough = kPush.size() + sizeof(std::int32_t);
constexpr std::size_t kHead = kSwitch.size() + kPassRedZone.size() + 3 * kThrough + kDrop.size();
static_assert(kCountingSwitch + 1 + kNoCounting == kHead);
// The longest: earlier instructions of four bytes, two of which may be conditional jumps that grow
// to six; the last; the jump back.
static_assert(kHead + 2 * 6 + kLongestInstruction + kJumpSize <= kLiterals);

}  // namespace

std::optional<std::array<std::uint8_t, kJumpSize>> jump_to(std::uint64_t place,
                                                           std::uint64_t target) noexcept {
  const auto distance = static_cast<std::int64_t>(target - (place + kJumpSize));
  const auto relative = static_cast<std::int32_t>(distance);
  if (relative != distance) return std::nullopt;
  std::array<std::uint8_t, kJumpSize> jump = {0xe9};
  std::memcpy(jump.data() + 1, &relative, sizeof relative);
  return jump;
}

std::optional<Trampoline> Trampoline::build(const JumpedOver& over,
                                            std::span<const std::uint8_t> bytes,
                                            const Addresses& addresses) noexcept {
  Trampoline out;
  out.base_ = addresses.trampoline;
  out.place_ = addresses.place;
  out.code_.fill(0xcc);
  const std::uint64_t back = addresses.place + over.length;
  const std::array<std::uint64_t, 4> literals = {addresses.place, addresses.site, addresses.entry,
                                                 back};
  std::memcpy(out.code_.data() + kLiterals, literals.data(), sizeof literals);
  out.put(kSwitch);
  out.put(kPassRedZone);
  if (!out.put_relative(kPush, out.base_ + at_literal(kPlace)) ||
      !out.put_relative(kPush, out.base_ + at_literal(kSite)) ||
      !out.put_relative(kCallThrough, out.base_ + at_literal(kEntry))) {
    return std::nullopt;
  }
  out.put(kDrop);
  std::size_t done = 0;
  for (std::size_t i = 0; i < over.count; ++i) {
    const Instruction& instruction = over.instructions[i];
    if (!out.put_instruction(instruction, bytes.subspan(done), addresses.place + done)) {
      return std::nullopt;
    }
    done += instruction.length;
  }
  out.begin_piece(back);
  constexpr std::array<std::uint8_t, 1> kJump = {0xe9};
  return out.put_relative(kJump, back) ? std::optional(out) : std::nullopt;
}

SeenAt Trampoline::seen(std::size_t offset) const noexcept {
  constexpr std::size_t kFirst = kSwitch.size() + kPassRedZone.size();
  if (offset < kFirst) return {place_, 0};
  if (offset < kFirst + kThrough) return {place_, kRedZone};
  if (offset < kFirst + 2 * kThrough) return {place_, kRedZone + 8};
  if (offset < kHead) return {place_, kRedZone + 16};
  SeenAt found{place_, 0};
  for (std::size_t i = 0; i < piece_count_ && pieces_[i].begin <= offset; ++i) {
    found.rip = pieces_[i].seen;
  }
  return found;
}

void Trampoline::put(std::span<const std::uint8_t> bytes) noexcept {
  std::memcpy(code_.data() + size_, bytes.data(), bytes.size());
  size_ += bytes.size();
}

// An opcode with a distance of 32 bits, which ends the instruction.
bool Trampoline::put_relative(std::span<const std::uint8_t> opcode, std::uint64_t target) noexcept {
  put(opcode);
  const auto distance = static_cast<std::int64_t>(target - (here() + sizeof(std::int32_t)));
  const auto relative = static_cast<std::int32_t>(distance);
  std::memcpy(code_.data() + size_, &relative, sizeof relative);
  size_ += sizeof relative;
  return relative == distance;
}

bool Trampoline::put_moved(const Instruction& instruction, std::span<const std::uint8_t> bytes,
                           std::uint64_t address) noexcept {
  const std::uint64_t moved_to = here();
  put(bytes.first(instruction.length));
  return relocate(instruction, address, moved_to,
                  std::span(code_).subspan(size_ - instruction.length, instruction.length));
}

bool Trampoline::put_instruction(const Instruction& instruction,
                                 std::span<const std::uint8_t> bytes,
                                 std::uint64_t address) noexcept {
  constexpr std::array<std::uint8_t, 1> kJump = {0xe9};
  const std::array<std::uint8_t, 2> condition = {
      0x0f, static_cast<std::uint8_t>(0x80U | instruction.condition)};
  const std::uint64_t next = address + instruction.length;
  const std::uint64_t target =
      next + static_cast<std::uint64_t>(std::int64_t{instruction.relative});
  begin_piece(address);
  switch (instruction.kind) {
    case Kind::kPlain:
      return put_moved(instruction, bytes, address);
    case Kind::kCondition:
      return put_relative(condition, target);
    case Kind::kJump:
      return put_relative(kJump, target);
    case Kind::kCall: {
      // With the return address that it would have pushed: unwinding sees what it always sees.
      const bool is_pushed = put_relative(kPush, base_ + at_literal(kReturn));
      begin_piece(target);
      return is_pushed && put_relative(kJump, target);
    }
    case Kind::kCount:
    case Kind::kIndirectCall:
    case Kind::kUnmovable:
      break;
  }
  return false;
}

void Trampoline::begin_piece(std::uint64_t seen) noexcept {
  pieces_[piece_count_++] = {static_cast<std::uint8_t>(size_), seen};
}

}  // namespace coz
