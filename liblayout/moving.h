// Moves the functions of this process's program. Once, before the program's own code runs.
#ifndef LIBLAYOUT_MOVING_H
#define LIBLAYOUT_MOVING_H

#include <cstdint>

#include "common/layout_plan.h"
#include "liblayout/placement.h"

namespace coz::layout {

struct Wanted {
  Order order;
  std::uint64_t seed;
  std::uint64_t interval;  // ns until calls lead to another layout; 0: they never do
  // The units that are to lie by the seed, the others as the linker left them; nullptr: all. Not
  // with an interval.
  const char* units = nullptr;
  // A file that gets a line for each of `units`, up to 16; or nullptr.
  const char* report = nullptr;
};

// What the functions were moved to.
struct Moved {
  const std::uint8_t* copies;
  std::uint64_t layouts;
};

// Ends the process if it fails. With an interval the bytes of the plan have to stay.
Moved move_functions(const LayoutPlan& plan, const Wanted& wanted) noexcept;

}  // namespace coz::layout

#endif  // LIBLAYOUT_MOVING_H
