// Any bytes as an unwind table, the index first: everything that a walk of the stack does with it,
// at addresses that the index names.
#include <cstring>
#include <vector>

#include "tests/fuzz/target.h"
#include "unwind/expression.h"
#include "unwind/frame_description.h"
#include "unwind/frame_rules.h"

namespace {

constexpr std::size_t kIndexHeader = 12;
constexpr std::size_t kRows = 64;

void evaluate_all(const coz::FrameRules& rules, std::uintptr_t stack) {
  coz::CheckedMemory memory;
  coz::FrameRegisters registers;
  registers.values.fill(stack);
  std::uintptr_t cfa = stack;
  if (rules.cfa_is_expression) {
    static_cast<void>(coz::evaluate(rules.cfa_expression, registers, nullptr, memory, cfa));
  } else {
    require(rules.cfa_register < coz::kRegisters, "a known register");
  }
  for (const coz::RegisterRule& rule : rules.registers) {
    require(rule.number < coz::kRegisters, "a known register");
    if (rule.kind != coz::RegisterRule::Kind::kSavedExpression &&
        rule.kind != coz::RegisterRule::Kind::kIsExpression) {
      continue;
    }
    std::uintptr_t value = 0;
    static_cast<void>(coz::evaluate(coz::expression_of(rule), registers, &cfa, memory, value));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  // Of exactly this size, so that what is read beyond it is seen.
  const std::vector<std::uint8_t> table(bytes, bytes + size);
  const auto begin = reinterpret_cast<std::uintptr_t>(table.data());
  const coz::LoadedObject object{begin, begin + size, begin};
  for (std::size_t row = 0; row < kRows && kIndexHeader + 8 * row + 4 <= size; ++row) {
    std::int32_t first = 0;
    std::memcpy(&first, table.data() + kIndexHeader + 8 * row, sizeof first);
    for (const std::intptr_t in : {0, 1, 5, 40}) {
      const std::uintptr_t address = begin + static_cast<std::uintptr_t>(first + in);
      coz::FrameDescription description;
      if (!coz::find_frame_description(object, address, description)) continue;
      coz::FrameRules rules;
      if (!coz::find_frame_rules(description, address, rules)) continue;
      evaluate_all(rules, reinterpret_cast<std::uintptr_t>(&rules));
    }
  }
  return 0;
}
