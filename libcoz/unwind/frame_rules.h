// Where the registers of a function's caller are while the function is at an instruction. The
// function's unwind table is a program, which is run up to that instruction (DWARF 5, section 6.4).
//
// Signal-safe; plain logic over the bytes it is given.
#ifndef LIBCOZ_UNWIND_FRAME_RULES_H
#define LIBCOZ_UNWIND_FRAME_RULES_H

#include <array>
#include <cstdint>

#include "unwind/frame_description.h"
#include "unwind/machine.h"

namespace coz {

// CFA: the canonical frame address, on x86-64 the stack pointer before the call.
struct RegisterRule {
  enum class Kind : std::uint8_t {
    kSame,             // as in the function itself
    kUndefined,        // lost; of the return address: there is no caller
    kSavedAt,          // in memory at CFA + offset
    kIs,               // CFA + offset
    kRegister,         // in register `number`
    kSavedExpression,  // in memory where the expression leads to from CFA
    kIsExpression,
  };

  Kind kind = Kind::kSame;
  std::uint32_t number = 0;
  std::int64_t offset = 0;  // for an expression: where it is in the program
};

struct FrameRules {
  bool cfa_is_expression = false;
  bool is_signed = false;  // the return address (pointer authentication)
  std::uint32_t cfa_register = 0;
  std::int64_t cfa_offset = 0;
  TableBytes cfa_expression;
  std::array<RegisterRule, kRegisters> registers{};
};

// The expression of a rule whose kind has one.
TableBytes expression_of(const RegisterRule& rule) noexcept;

// False if the program is broken, or has an instruction that no known compiler writes.
bool find_frame_rules(const FrameDescription& description, std::uintptr_t address,
                      FrameRules& out) noexcept;

}  // namespace coz

#endif  // LIBCOZ_UNWIND_FRAME_RULES_H
