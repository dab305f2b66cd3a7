// A thread that waits for times of a schedule: it adds a step to its last deadline, and does not
// read the clock again.
//
// Such a schedule takes no notice of delays. A thread that pays them after each wait sleeps less
// the next time: it comes as often as before in real time, and so too often in effective time. With
// D the deadline, L the delay that the thread has served, and L_0 what it had served when the
// schedule began, the wait has to end at D + (L − L_0).
//
// A schedule is known by its steps: several in a row are equal to the nanosecond. A deadline that
// is computed as "now + x" hardly ever repeats a step. One that is rounded up to the next second
// does: it is postponed, too, by less than a step, until the program misses a second. Where the
// program is late and begins anew, a step differs, and nothing is postponed until several are equal
// again.
//
// A thread may have several schedules, each by the call that waits. One thread owns them. Time is
// handed in, ns. Zeroed memory is valid: no schedule.
#ifndef LIBCOZ_DELAY_CLOCK_SCHEDULE_H
#define LIBCOZ_DELAY_CLOCK_SCHEDULE_H

#include <algorithm>
#include <array>
#include <cstdint>

#include "common/clock.h"

namespace coz {

class ClockSchedule {
 public:
  // So many steps in a row must be equal.
  static constexpr int kEqualSteps = 3;

  // The thread, which has served `local`, waits until `deadline`, by any clock. Returns by how much
  // to postpone that. `counts`: does what it has served since the last wait?
  Nanoseconds postpone(Nanoseconds deadline, Nanoseconds local, bool counts = true) noexcept {
    if (!counts) base_ += local - local_;
    local_ = local;
    if (deadline != last_) {  // else it waits on, as for a condition
      const Nanoseconds step = deadline - last_;
      if (step != step_ || step <= 0) {
        equal_ = 0;
        base_ = local;
      }
      equal_ = std::min(equal_ + 1, kEqualSteps);
      step_ = step;
      last_ = deadline;
    }
    return is_known() ? std::max<Nanoseconds>(0, local - base_) : 0;
  }
  bool is_known() const noexcept { return equal_ == kEqualSteps; }

 private:
  Nanoseconds last_ = 0;
  Nanoseconds step_ = 0;
  int equal_ = 0;          // the last steps that were equal
  Nanoseconds base_ = 0;   // L_0
  Nanoseconds local_ = 0;  // at the last wait
};

// Those of a thread.
class ClockSchedules {
 public:
  static constexpr std::uint32_t kPlaces = 4;

  // `site`: of the call that waits.
  Nanoseconds postpone(std::uintptr_t site, Nanoseconds deadline, Nanoseconds local,
                       bool counts = true) noexcept {
    Place& place = at(site);
    place.used = ++uses_;
    return place.schedule.postpone(deadline, local, counts);
  }

 private:
  struct Place {
    std::uintptr_t site = 0;
    std::uint64_t used = 0;
    ClockSchedule schedule;
  };

  // A new one takes the place of one that is no schedule, else of the one not used for longest.
  Place& at(std::uintptr_t site) noexcept {
    Place* oldest = &places_[0];
    for (Place& place : places_) {
      if (place.site == site) return place;
      const bool is_schedule = place.schedule.is_known();
      const bool oldest_is = oldest->schedule.is_known();
      if (is_schedule != oldest_is ? oldest_is : place.used < oldest->used) oldest = &place;
    }
    *oldest = {site, 0, {}};
    return *oldest;
  }

  std::array<Place, kPlaces> places_{};
  std::uint64_t uses_ = 0;
};

}  // namespace coz

#endif  // LIBCOZ_DELAY_CLOCK_SCHEDULE_H
