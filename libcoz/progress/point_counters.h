// Progress points whose visits the kernel counts, by hardware breakpoints.
//
// A visit costs the thread no signal and no call, but its time is not taken: such points are only
// counted, like those of the classic header. add() and descriptors() are for the time before any
// thread is profiled; refresh() is for one thread at a time. If the program closes a descriptor,
// the count stays as it was.
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

  // With --tree, before add(): visits by forked children count, too.
  void follow_children() noexcept { in_children_ = true; }
  // Counts visits at these addresses by the calling thread and all threads that descend from it.
  // Returns 0, or -errno if there is no breakpoint for one of the addresses: then none is used.
  long add(Point& point, std::span<const std::uintptr_t> addresses);

  // Brings the counts of the points up to date.
  void refresh() noexcept;
  // Ends the counting; the counts stay.
  void stop() noexcept;

  // The descriptors that refresh() reads.
  std::vector<int> descriptors() const;

 private:
  struct Counter {
    Point* point;
    std::vector<int> events;
  };
  std::vector<Counter> counters_;
  bool in_children_ = false;
};

}  // namespace coz

#endif  // LIBCOZ_PROGRESS_POINT_COUNTERS_H
