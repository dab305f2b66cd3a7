// Progress points whose visits the kernel counts, by hardware breakpoints.
//
// A visit costs the thread no signal and no call, but nobody takes its time: such points are only
// counted, like those of the classic header. add() and descriptors() before any thread is profiled;
// refresh() by one thread at a time. Descriptors that the program closes leave the count as it was.
#ifndef LIBCOZ_PROGRESS_POINT_COUNTERS_H
#define LIBCOZ_PROGRESS_POINT_COUNTERS_H

#include <cstdint>
#include <span>
#include <vector>

#include "progress/point.h"

namespace coz {

class PointCounters {
 public:
  PointCounters() = default;
  PointCounters(const PointCounters&) = delete;
  PointCounters& operator=(const PointCounters&) = delete;
  ~PointCounters();

  // Counts the calling thread, and all threads that it and they create, at these addresses. Returns
  // 0, or -errno when there is no breakpoint for one of them: then none is used.
  long add(Point& point, std::span<const std::uintptr_t> addresses);

  // Brings the points' counts up to date.
  void refresh() noexcept;
  // Counts no more; what was counted stays.
  void stop() noexcept;

  // What refresh() reads.
  std::vector<int> descriptors() const;

 private:
  struct Counter {
    Point* point;
    std::vector<int> events;
  };
  std::vector<Counter> counters_;
};

}  // namespace coz

#endif  // LIBCOZ_PROGRESS_POINT_COUNTERS_H
