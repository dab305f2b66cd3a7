#include "unwind/stack_walk.h"

#include "unwind/expression.h"
#include "unwind/loaded_object.h"

namespace coz {

bool StackWalk::step() noexcept {
  if (registers_.pc == 0) return false;
  FrameDescription description;
  LoadedObject object;
  if (!find_loaded_object(address(), object) ||
      !find_frame_description(object, address(), description)) {
    return step_out_of_handler();
  }
  if (description.is_signal_frame && step_out_of_handler()) return true;
  return step_by(description);
}

bool StackWalk::frame_address(const FrameRules& rules, std::uintptr_t& out) noexcept {
  if (rules.cfa_is_expression) {
    return evaluate(rules.cfa_expression, registers_, nullptr, memory_, out);
  }
  out = registers_.values[rules.cfa_register] + static_cast<std::uintptr_t>(rules.cfa_offset);
  return true;
}

bool StackWalk::recover(const RegisterRule& rule, std::uintptr_t cfa,
                        std::uintptr_t& value) noexcept {
  const std::uintptr_t at = cfa + static_cast<std::uintptr_t>(rule.offset);
  switch (rule.kind) {
    case RegisterRule::Kind::kSame:
    case RegisterRule::Kind::kUndefined:
      return true;
    case RegisterRule::Kind::kSavedAt:
      return memory_.read_word(at, value);
    case RegisterRule::Kind::kIs:
      value = at;
      return true;
    case RegisterRule::Kind::kRegister:
      value = registers_.values[rule.number];
      return true;
    default:
      break;
  }
  std::uintptr_t result = 0;
  if (!evaluate(expression_of(rule), registers_, &cfa, memory_, result)) return false;
  if (rule.kind == RegisterRule::Kind::kSavedExpression) return memory_.read_word(result, value);
  value = result;
  return true;
}

bool StackWalk::step_by(const FrameDescription& description) noexcept {
  FrameRules rules;
  if (description.return_register >= kRegisters ||
      !find_frame_rules(description, address(), rules)) {
    return false;
  }
  const auto number = static_cast<std::size_t>(description.return_register);
  if (rules.registers[number].kind == RegisterRule::Kind::kUndefined) return false;
  std::uintptr_t cfa = 0;
  if (!frame_address(rules, cfa)) return false;
  FrameRegisters caller = registers_;
  caller.values[kStackPointer] = cfa;
  for (std::size_t i = 0; i < kRegisters; ++i) {
    if (rules.registers[i].kind == RegisterRule::Kind::kSame) continue;
    if (!recover(rules.registers[i], cfa, caller.values[i])) return false;
  }
  caller.pc = caller.values[number];
  if (rules.is_signed) caller.pc = without_signature(caller.pc);
  const bool is_same = caller.pc == registers_.pc && cfa == registers_.values[kStackPointer];
  if (caller.pc == 0 || is_same) return false;
  registers_ = caller;
  is_exact_ = description.is_signal_frame;
  return true;
}

bool StackWalk::step_out_of_handler() noexcept {
  std::array<std::uint8_t, kSignalReturn.size()> code{};
  if (!memory_.read(registers_.pc, code.data(), code.size()) || code != kSignalReturn) return false;
  alignas(ucontext_t) std::array<unsigned char, kContextLooked> context{};
  const std::uintptr_t at = registers_.values[kStackPointer] + kContextAbove;
  if (!memory_.read(at, context.data(), context.size())) return false;
  registers_ = interrupted_registers(context.data());
  is_exact_ = true;
  return registers_.pc != 0;
}

[[gnu::noinline]] bool is_in_signal_handler() noexcept {
  constexpr int kMaxFrames = 256;
  StackWalk walk(current_registers(), true);
  for (int frame = 0; frame < kMaxFrames && walk.step(); ++frame) {
    if (walk.is_interrupted()) return true;
  }
  return false;
}

}  // namespace coz
