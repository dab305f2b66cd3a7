#include "unwind/frame_rules.h"

#include <dwarf.h>

#include <cstring>
#include <type_traits>

#include "unwind/table_cursor.h"

namespace coz {
namespace {

using Kind = RegisterRule::Kind;

// Compilers remember one state at a time, around an epilogue in the middle of a function.
constexpr std::size_t kMaxRemembered = 3;

constexpr std::uint8_t kOperand =
    0x3f;  // the operand bits of instructions that have one in their code

class RuleProgram {
 public:
  RuleProgram(const FrameDescription& description, std::uintptr_t wanted,
              FrameRules& rules) noexcept
      : description_(description), wanted_(wanted), rules_(rules), at_(description.begin) {
    rules_ = {};
  }

  bool run() noexcept {
    if (!run(description_.common_program)) return false;
    initial_ = rules_;
    at_ = description_.begin;
    return run(description_.program);
  }

 private:
  bool run(TableBytes program) noexcept {
    cursor_ = TableCursor(program);
    while (!cursor_.at_end() && good_ && at_ <= wanted_) instruction(cursor_.take<std::uint8_t>());
    return good_ && cursor_.is_good();
  }

  void fail() noexcept { good_ = false; }

  RegisterRule& rule(std::uint64_t number) noexcept {
    // Vector registers and the like do not lead to the caller.
    return number < kRegisters ? rules_.registers[number] : ignored_;
  }

  void advance(std::uint64_t units) noexcept { at_ += units * description_.code_unit; }

  std::int64_t scaled(std::int64_t offset) const noexcept {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(offset) *
                                     static_cast<std::uint64_t>(description_.data_unit));
  }
  std::int64_t take_offset() noexcept {
    return scaled(static_cast<std::int64_t>(cursor_.take_unsigned()));
  }
  std::int64_t take_signed_offset() noexcept { return scaled(cursor_.take_signed()); }

  TableBytes take_block() noexcept { return cursor_.take_bytes(cursor_.take_unsigned()); }

  void set(std::uint64_t number, Kind kind, std::int64_t offset = 0) noexcept {
    rule(number) = {kind, 0, offset};
  }

  // A rule keeps the address of its expression, which begins with its size.
  void set_expression(std::uint64_t number, Kind kind) noexcept {
    const auto begin = static_cast<std::int64_t>(cursor_.address());
    static_cast<void>(take_block());
    set(number, kind, begin);
  }

  void define_cfa(std::uint64_t number, std::int64_t offset) noexcept {
    if (number >= kRegisters) return fail();
    rules_.cfa_is_expression = false;
    rules_.cfa_register = static_cast<std::uint32_t>(number);
    rules_.cfa_offset = offset;
  }

  void restore(std::uint64_t number) noexcept {
    if (number < kRegisters) rules_.registers[number] = initial_.registers[number];
  }

  void instruction(std::uint8_t code) noexcept {
    const std::uint8_t operand = code & kOperand;
    switch (code & ~kOperand) {
      case DW_CFA_advance_loc:
        return advance(operand);
      case DW_CFA_offset:
        return set(operand, Kind::kSavedAt, take_offset());
      case DW_CFA_restore:
        return restore(operand);
      default:
        break;
    }
    switch (code) {
      case DW_CFA_nop:
        return;
      case DW_CFA_set_loc:
        at_ = cursor_.take_pointer(description_.encoding);
        return;
      case DW_CFA_advance_loc1:
        return advance(cursor_.take<std::uint8_t>());
      case DW_CFA_advance_loc2:
        return advance(cursor_.take<std::uint16_t>());
      case DW_CFA_advance_loc4:
        return advance(cursor_.take<std::uint32_t>());
      case DW_CFA_remember_state:
        return remember();
      case DW_CFA_restore_state:
        return restore_remembered();
      case DW_CFA_GNU_args_size:
        cursor_.take_unsigned();
        return;
      // The same code as DW_CFA_GNU_window_save, which is SPARC's.
      case DW_CFA_AARCH64_negate_ra_state:
        rules_.is_signed = !rules_.is_signed;
        return;
      default:
        break;
    }
    if (code == DW_CFA_def_cfa || code == DW_CFA_def_cfa_sf || code == DW_CFA_def_cfa_register ||
        code == DW_CFA_def_cfa_offset || code == DW_CFA_def_cfa_offset_sf ||
        code == DW_CFA_def_cfa_expression) {
      return cfa_instruction(code);
    }
    register_instruction(code, cursor_.take_unsigned());
  }

  void cfa_instruction(std::uint8_t code) noexcept {
    switch (code) {
      case DW_CFA_def_cfa: {
        const std::uint64_t number = cursor_.take_unsigned();
        return define_cfa(number, static_cast<std::int64_t>(cursor_.take_unsigned()));
      }
      case DW_CFA_def_cfa_sf: {
        const std::uint64_t number = cursor_.take_unsigned();
        return define_cfa(number, take_signed_offset());
      }
      case DW_CFA_def_cfa_register:
        return define_cfa(cursor_.take_unsigned(), rules_.cfa_offset);
      case DW_CFA_def_cfa_offset:
        rules_.cfa_offset = static_cast<std::int64_t>(cursor_.take_unsigned());
        return;
      case DW_CFA_def_cfa_offset_sf:
        rules_.cfa_offset = take_signed_offset();
        return;
      default:
        rules_.cfa_is_expression = true;
        rules_.cfa_expression = take_block();
    }
  }

  void register_instruction(std::uint8_t code, std::uint64_t number) noexcept {
    switch (code) {
      case DW_CFA_offset_extended:
        return set(number, Kind::kSavedAt, take_offset());
      case DW_CFA_offset_extended_sf:
        return set(number, Kind::kSavedAt, take_signed_offset());
      case DW_CFA_GNU_negative_offset_extended:
        return set(number, Kind::kSavedAt, -take_offset());
      case DW_CFA_val_offset:
        return set(number, Kind::kIs, take_offset());
      case DW_CFA_val_offset_sf:
        return set(number, Kind::kIs, take_signed_offset());
      case DW_CFA_restore_extended:
        return restore(number);
      case DW_CFA_undefined:
        return set(number, Kind::kUndefined);
      case DW_CFA_same_value:
        return set(number, Kind::kSame);
      case DW_CFA_expression:
        return set_expression(number, Kind::kSavedExpression);
      case DW_CFA_val_expression:
        return set_expression(number, Kind::kIsExpression);
      case DW_CFA_register: {
        const std::uint64_t other = cursor_.take_unsigned();
        if (other >= kRegisters) return fail();
        rule(number) = {Kind::kRegister, static_cast<std::uint32_t>(other), 0};
        return;
      }
      default:
        return fail();
    }
  }

  void remember() noexcept {
    if (remembered_ == kMaxRemembered) return fail();
    std::memcpy(memory_[remembered_++].data(), &rules_, sizeof rules_);
  }

  void restore_remembered() noexcept {
    if (remembered_ == 0) return fail();
    std::memcpy(&rules_, memory_[--remembered_].data(), sizeof rules_);
  }

  const FrameDescription& description_;
  std::uintptr_t wanted_;
  FrameRules& rules_;
  std::uintptr_t at_;  // the address that the program has reached
  TableCursor cursor_{TableBytes()};
  bool good_ = true;
  FrameRules initial_;
  // Left unset until a state is remembered: few functions do that, and a walk passes many.
  using Remembered = std::array<unsigned char, sizeof(FrameRules)>;
  static_assert(std::is_trivially_copyable_v<FrameRules>);
  std::array<Remembered, kMaxRemembered> memory_;
  std::size_t remembered_ = 0;
  RegisterRule ignored_;
};

}  // namespace

TableBytes expression_of(const RegisterRule& rule) noexcept {
  constexpr std::size_t kMaxSizeBytes = 10;
  const auto* begin = reinterpret_cast<const std::uint8_t*>(rule.offset);
  TableCursor cursor({begin, kMaxSizeBytes});
  const std::uint64_t size = cursor.take_unsigned();
  return {begin + (kMaxSizeBytes - cursor.left()), static_cast<std::size_t>(size)};
}

bool find_frame_rules(const FrameDescription& description, std::uintptr_t address,
                      FrameRules& out) noexcept {
  return RuleProgram(description, address, out).run();
}

}  // namespace coz
