#include "unwind/expression.h"

#include <dwarf.h>

namespace coz {
namespace {

constexpr std::size_t kMaxDepth = 16;
constexpr int kMaxOperations = 256;  // branches may go back

class Evaluation {
 public:
  Evaluation(TableBytes expression, const FrameRegisters& registers, CheckedMemory& memory) noexcept
      : expression_(expression), cursor_(expression), registers_(registers), memory_(memory) {}

  void push(std::uint64_t value) noexcept {
    if (depth_ == kMaxDepth) return fail();
    stack_[depth_++] = value;
  }

  bool run(std::uintptr_t& out) noexcept {
    for (int i = 0; !cursor_.at_end() && good_; ++i) {
      if (i == kMaxOperations) return false;
      operation(cursor_.take<std::uint8_t>());
    }
    if (!good_ || !cursor_.is_good() || depth_ == 0) return false;
    out = stack_[depth_ - 1];
    return true;
  }

 private:
  void fail() noexcept { good_ = false; }

  std::uint64_t pop() noexcept {
    if (depth_ == 0) {
      fail();
      return 0;
    }
    return stack_[--depth_];
  }

  // `index`: from the top.
  void pick(std::size_t index) noexcept {
    if (index >= depth_) return fail();
    push(stack_[depth_ - 1 - index]);
  }

  void push_register(std::uint64_t number) noexcept {
    const auto offset = static_cast<std::uint64_t>(cursor_.take_signed());
    if (number >= kRegisters) return fail();
    push(registers_.values[number] + offset);
  }

  void operation(std::uint8_t code) noexcept {
    if (code >= DW_OP_lit0 && code <= DW_OP_lit31) return push(code - DW_OP_lit0);
    if (code >= DW_OP_breg0 && code <= DW_OP_breg31) return push_register(code - DW_OP_breg0);
    if (code >= DW_OP_addr && code <= DW_OP_consts && code != DW_OP_deref) return constant(code);
    switch (code) {
      case DW_OP_bregx:
        return push_register(cursor_.take_unsigned());
      case DW_OP_nop:
        return;
      case DW_OP_dup:
        return pick(0);
      case DW_OP_over:
        return pick(1);
      case DW_OP_pick:
        return pick(cursor_.take<std::uint8_t>());
      case DW_OP_drop:
        static_cast<void>(pop());
        return;
      case DW_OP_swap:
        return swap();
      case DW_OP_deref:
        return read(sizeof(std::uintptr_t));
      case DW_OP_deref_size:
        return read(cursor_.take<std::uint8_t>());
      case DW_OP_plus_uconst:
        return push(pop() + cursor_.take_unsigned());
      case DW_OP_neg:
        return push(-pop());
      case DW_OP_not:
        return push(~pop());
      case DW_OP_abs: {
        const std::uint64_t value = pop();
        return push(static_cast<std::int64_t>(value) < 0 ? -value : value);
      }
      case DW_OP_skip:
        return skip(true);
      case DW_OP_bra:
        return skip(pop() != 0);
      default:
        return of_two(code);
    }
  }

  void constant(std::uint8_t code) noexcept {
    switch (code) {
      case DW_OP_addr:
        return push(cursor_.take<std::uint64_t>());
      case DW_OP_constu:
        return push(cursor_.take_unsigned());
      case DW_OP_consts:
        return push(static_cast<std::uint64_t>(cursor_.take_signed()));
      case DW_OP_const1u:
        return push(cursor_.take<std::uint8_t>());
      case DW_OP_const2u:
        return push(cursor_.take<std::uint16_t>());
      case DW_OP_const4u:
        return push(cursor_.take<std::uint32_t>());
      case DW_OP_const8u:
      case DW_OP_const8s:
        return push(cursor_.take<std::uint64_t>());
      case DW_OP_const1s:
        return push_signed(cursor_.take<std::int8_t>());
      case DW_OP_const2s:
        return push_signed(cursor_.take<std::int16_t>());
      case DW_OP_const4s:
        return push_signed(cursor_.take<std::int32_t>());
      default:
        return fail();
    }
  }

  void push_signed(std::int64_t value) noexcept { push(static_cast<std::uint64_t>(value)); }

  void of_two(std::uint8_t code) noexcept {
    const std::uint64_t b = pop();
    const std::uint64_t a = pop();
    const auto signed_a = static_cast<std::int64_t>(a);
    const auto signed_b = static_cast<std::int64_t>(b);
    switch (code) {
      case DW_OP_and:
        return push(a & b);
      case DW_OP_or:
        return push(a | b);
      case DW_OP_xor:
        return push(a ^ b);
      case DW_OP_plus:
        return push(a + b);
      case DW_OP_minus:
        return push(a - b);
      case DW_OP_mul:
        return push(a * b);
      case DW_OP_shl:
        return push(b < 64 ? a << b : 0);
      case DW_OP_shr:
        return push(b < 64 ? a >> b : 0);
      case DW_OP_shra:
        return push(static_cast<std::uint64_t>(signed_a >> (b < 63 ? b : 63)));
      case DW_OP_eq:
        return push(a == b ? 1 : 0);
      case DW_OP_ne:
        return push(a != b ? 1 : 0);
      case DW_OP_ge:
        return push(signed_a >= signed_b ? 1 : 0);
      case DW_OP_gt:
        return push(signed_a > signed_b ? 1 : 0);
      case DW_OP_le:
        return push(signed_a <= signed_b ? 1 : 0);
      case DW_OP_lt:
        return push(signed_a < signed_b ? 1 : 0);
      default:
        return fail();
    }
  }

  void swap() noexcept {
    const std::uint64_t top = pop();
    const std::uint64_t below = pop();
    push(top);
    push(below);
  }

  void read(std::size_t size) noexcept {
    std::uintptr_t value = 0;
    if (size == 0 || size > sizeof value || !memory_.read(pop(), &value, size)) return fail();
    push(value);
  }

  void skip(bool is_taken) noexcept {
    const auto distance = cursor_.take<std::int16_t>();
    if (!is_taken) return;
    const std::int64_t at =
        static_cast<std::int64_t>(expression_.size() - cursor_.left()) + distance;
    if (at < 0 || at > static_cast<std::int64_t>(expression_.size())) return fail();
    cursor_ = TableCursor(expression_.subspan(static_cast<std::size_t>(at)));
  }

  TableBytes expression_;
  TableCursor cursor_;
  const FrameRegisters& registers_;
  CheckedMemory& memory_;
  std::array<std::uint64_t, kMaxDepth> stack_{};
  std::size_t depth_ = 0;
  bool good_ = true;
};

}  // namespace

bool evaluate(TableBytes expression, const FrameRegisters& registers, const std::uintptr_t* first,
              CheckedMemory& memory, std::uintptr_t& out) noexcept {
  Evaluation evaluation(expression, registers, memory);
  if (first != nullptr) evaluation.push(*first);
  return evaluation.run(out);
}

}  // namespace coz
