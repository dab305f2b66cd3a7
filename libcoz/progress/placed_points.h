// Progress points that the command line asked for: COZ_POINTS (docs/launch_contract.md), as values.
//
// Plain logic; allocates.
#ifndef LIBCOZ_PROGRESS_PLACED_POINTS_H
#define LIBCOZ_PROGRESS_PLACED_POINTS_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "progress/point.h"

namespace coz {

enum class CountedBy { kHardware, kJump, kBreakpoint, kSamples };

struct PlacedPoint {
  PointKind kind = PointKind::kThroughput;
  CountedBy by = CountedBy::kHardware;
  std::string binary;                    // empty with kSamples
  std::vector<std::uint64_t> addresses;  // in the file's own address space
  std::string name;                      // with kSamples: `path:line`
};

const char* name_of(CountedBy by) noexcept;

// One a line: kind, means, binary, addresses (hex, with commas in between) and name, with tabs in
// between. A line that is none of this is left out, and said in `problems`.
[[nodiscard]] std::vector<PlacedPoint> parse_placed_points(std::string_view list,
                                                           std::vector<std::string>& problems);

}  // namespace coz

#endif  // LIBCOZ_PROGRESS_PLACED_POINTS_H
