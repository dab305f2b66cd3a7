// `coz-linetable breakpoints`: which kinds of breakpoints this machine has, and what one visit
// costs, measured in this process.
#ifndef LINETABLE_MACHINE_BREAKPOINT_COSTS_H
#define LINETABLE_MACHINE_BREAKPOINT_COSTS_H

#include <string>

namespace coz::linetable {

struct BreakpointCosts {
  int hardware_free = 0;         // how many a thread may have
  std::string hardware_error;    // when there is none
  double hardware_visit = 0;     // ns
  bool has_instruction = false;  // whether there is a breakpoint instruction of ours
  double instruction_visit = 0;  // ns
};

// Takes SIGTRAP for a moment: only for a process that does nothing else.
[[nodiscard]] BreakpointCosts measure_breakpoints();

[[nodiscard]] std::string to_json(const BreakpointCosts& costs);

}  // namespace coz::linetable

#endif  // LINETABLE_MACHINE_BREAKPOINT_COSTS_H
