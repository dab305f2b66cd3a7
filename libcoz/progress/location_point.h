// Progress points that the command line asks for by location: COZ_POINTS (docs/launch_contract.md),
// as values.
//
// Plain logic; allocates.
#ifndef LIBCOZ_PROGRESS_LOCATION_POINT_H
#define LIBCOZ_PROGRESS_LOCATION_POINT_H

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/patch_plan.h"
#include "progress/point.h"

namespace coz {

enum class CountedBy { kHardware, kBreakpoint, kSamples };
inline constexpr std::array kCountedByNames = {"hardware", "breakpoint", "samples"};

struct LocationPoint {
  // One of the addresses at which a visit begins.
  struct Entry {
    std::uint64_t address = 0;      // in the file's own address space
    std::optional<PatchPlan> plan;  // where a breakpoint instruction can stand
  };

  PointKind kind = PointKind::kThroughput;
  CountedBy by = CountedBy::kHardware;
  std::string binary;          // empty with kSamples, as are the entries
  std::vector<Entry> entries;  // with kBreakpoint, each has a plan
  std::string name;            // with kSamples: `path:line`

  bool has_plans() const;  // each entry
};

// One a line: kind, means, binary, entries and name, with tabs in between. Entries have commas in
// between, and are addresses (hexadecimal), each with a plan behind a `=` if there is one. A line
// that is none of this is left out, and reported in `problems`.
[[nodiscard]] std::vector<LocationPoint> parse_location_points(std::string_view list,
                                                               std::vector<std::string>& problems);

}  // namespace coz

#endif  // LIBCOZ_PROGRESS_LOCATION_POINT_H
