// `coz-linetable locations`: where breakpoints count each pass through a line, or each entry of a
// function, exactly once.
//
// It reads the debug information itself: the line table lacks columns, which rows begin a
// statement, and which copy of a function code belongs to.
//
// For a line, in each copy of the function that it is in (inlined or not): the lowest address at
// which a statement of it begins, and those of the copies that the compiler made of that statement
// (they begin in the same column). Rows that follow one another directly are one pass. For a
// function: its entry, in each body (clones made for constants, for example) and wherever it is
// inlined, but not the parts that were split off, which are entered from within.
#ifndef LINETABLE_QUERY_LOCATION_QUERY_H
#define LINETABLE_QUERY_LOCATION_QUERY_H

#include <cstdint>
#include <string>
#include <vector>

#include "linetable/elf/debug_file.h"

namespace coz::linetable {

struct LocationQuery {
  std::string binary;
  DebugFileSearch search;
  std::vector<std::string> names;  // FILE:LINE, FUNCTION or FILE:FUNCTION; % for any text
};

struct LocationAddress {
  std::uint64_t address = 0;  // in the file's own address space
  // How a breakpoint instruction there is stepped over (common/patch_plan.h); empty if none can
  // stand there.
  std::string patch;
  // Why a breakpoint instruction, or any breakpoint, cannot stand there; empty if it can.
  std::string no_instruction;
  std::string no_breakpoint;
};

// A line or function that a name stands for.
struct FoundLocation {
  std::string location;  // path:line, or path:function
  std::string function;
  std::vector<LocationAddress> addresses;
};

struct LocationAnswer {
  std::string name;
  bool is_line = false;
  std::vector<FoundLocation> found;
  std::vector<std::string> nearest;  // names, if nothing was found
};

// Returns false, with `error`, when the binary cannot be read.
[[nodiscard]] bool find_locations(const LocationQuery& query, std::vector<LocationAnswer>& answers,
                                  std::string& error);

// The object that the command prints.
[[nodiscard]] std::string to_json(const std::vector<LocationAnswer>& answers);

}  // namespace coz::linetable

#endif  // LINETABLE_QUERY_LOCATION_QUERY_H
