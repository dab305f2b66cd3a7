// Which variable of a function lies at an address of its frame, by debug information.
#ifndef LINETABLE_ACCESSES_STACK_VARIABLES_H
#define LINETABLE_ACCESSES_STACK_VARIABLES_H

#include <elfutils/libdw.h>

#include <cstdint>
#include <string>

namespace coz::linetable {

// cfa: the canonical frame address, the stack pointer before the call.
struct FramePlace {
  std::uint64_t cfa = 0;
  std::uint64_t frame_pointer = 0;
};

struct StackVariable {
  std::string name;
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
};

// Looks at the scopes around `pc`, an address of the file, the innermost first. False if no
// variable that debug information places in the frame covers `address`.
bool find_stack_variable(Dwarf_Die* unit, std::uint64_t pc, const FramePlace& frame,
                         std::uint64_t address, StackVariable& out);

}  // namespace coz::linetable

#endif  // LINETABLE_ACCESSES_STACK_VARIABLES_H
