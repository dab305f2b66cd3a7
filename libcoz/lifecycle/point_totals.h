// Counting without profiling (COZ_POINT_TOTALS): macros find their points, and the visits of each
// point are written to a file when the process ends. There are no samples, no experiments, no
// delays and no threads of ours; wrappers pass their calls on.
//
// Every process with the variable adds lines to the file: a forked child those of its own visits,
// and a program that it executes, too. A child made by vfork() counts with its parent.
#ifndef LIBCOZ_LIFECYCLE_POINT_TOTALS_H
#define LIBCOZ_LIFECYCLE_POINT_TOTALS_H

#include <cstddef>
#include <span>

#include "progress/point_registry.h"

namespace coz {

class PointTotals {
 public:
  // In the constructor. True if visits are to be counted, and nothing else is to be done.
  static bool is_wanted();

  // nullptr unless visits are counted.
  static PointRegistry* points() noexcept { return points_; }

  // By any thread of the program.
  static void visit(Point& point) noexcept;

  // Writes what there is; only the first call in a process does. Does not allocate.
  static void finish() noexcept;

 private:
  static void in_forked_child() noexcept;

  static inline PointRegistry* points_ = nullptr;
};

// `KIND<TAB>VISITS<TAB>TIMED<TAB>TIMES<TAB>NAME` and a newline, in `line`; returns its length.
// TIMES: the sum of the times of TIMED visits, modulo 2^64; both are 0 where times are not taken.
// What could end a line or a field within NAME becomes a space.
std::size_t describe_point(const Point& point, std::span<char, 512> line) noexcept;

}  // namespace coz

#endif  // LIBCOZ_LIFECYCLE_POINT_TOTALS_H
