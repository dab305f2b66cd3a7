// Plans how the functions of a program can lie elsewhere (docs/decisions/layouts.md).
//
// Plain logic, without ELF and files. Addresses are relative to the lowest loaded one.
#ifndef LINETABLE_LAYOUT_LAYOUT_PLANNER_H
#define LINETABLE_LAYOUT_LAYOUT_PLANNER_H

#include <cstdint>
#include <string>
#include <vector>

#include "common/layout_plan_format.h"
#include "linetable/layout/program_code.h"

namespace coz::linetable {

// Code that has to stay where it is.
struct PinnedCode {
  Extent extent;
  std::string name;  // of the function; empty if it has none
  const char* reason = "";
};

struct PlannedLayout {
  std::uint32_t alignment = 16;
  std::vector<LayoutUnit> units;
  std::vector<LayoutFixup> fixups;
  std::vector<LayoutEntry> entries;
  std::vector<LayoutTable> tables;
  std::vector<LayoutCommon> commons;
  std::vector<LayoutFrame> frames;
  std::vector<PinnedCode> pinned;
  std::uint64_t text_bytes = 0;     // of code, without what fills the space between functions
  std::uint64_t movable_bytes = 0;  // of these, in units
  std::uint64_t functions = 0;      // in units
  std::uint64_t kept_entries = 0;   // of these, without room for a jump to the copy
};

[[nodiscard]] PlannedLayout plan_layout(const ProgramCode& program);

}  // namespace coz::linetable

#endif  // LINETABLE_LAYOUT_LAYOUT_PLANNER_H
