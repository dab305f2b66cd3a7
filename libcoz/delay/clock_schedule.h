// A thread that waits for times of a schedule: it adds a step to its last deadline, and does not
// read the clock again.
//
// Such a schedule takes no notice of delays. A thread that pays them after each wait sleeps less
// the next time: it comes as often as before in real time, and so too often in effective time. With
// D the deadline, L the delay that the thread has served, and L_0 what it had served when the
// schedule began, the wait has to end at D + (L − L_0).
//
// A schedule is known by its steps: several in a row are equal to the nanosecond. Where the program
// adds a time to what the clock says, they hardly ever are. Where it rounds that (to the next full
// second), they may be: then deadlines are postponed by less than a step, until the program skips
// one. Where the program is late and begins anew, a step differs, and nothing is postponed until
// several are equal again.
//
// A thread may have several schedules, each by the call that waits. One thread owns them. Time is
// handed in, ns. Zeroed memory knows no schedule.
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
  // to postpone that.
  Nanoseconds postpone(Nanoseconds deadline, Nanoseconds local) noexcept {
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
    return equal_ < kEqualSteps ? 0 : std::max<Nanoseconds>(0, local - base_);
  }

 private:
  Nanoseconds last_ = 0;
  Nanoseconds step_ = 0;
  int equal_ = 0;         // the last steps that were equal
  Nanoseconds base_ = 0;  // L_0
};

class ClockSchedules {
 public:
  // `site`: of the call that waits.
  Nanoseconds postpone(std::uintptr_t site, Nanoseconds deadline, Nanoseconds local) noexcept {
    Place* place = find(site);
    if (place == nullptr) {
      place = &places_[next_++ % kPlaces];
      *place = {site, {}};
    }
    return place->schedule.postpone(deadline, local);
  }
  void forget(std::uintptr_t site) noexcept {
    if (Place* place = find(site)) *place = {};
  }

 private:
  static constexpr std::uint32_t kPlaces = 4;
  struct Place {
    std::uintptr_t site = 0;
    ClockSchedule schedule;
  };

  Place* find(std::uintptr_t site) noexcept {
    const auto found = std::find_if(places_.begin(), places_.end(),
                                    [=](const Place& place) { return place.site == site; });
    return found == places_.end() ? nullptr : &*found;
  }

  std::array<Place, kPlaces> places_{};
  std::uint32_t next_ = 0;
};

}  // namespace coz

#endif  // LIBCOZ_DELAY_CLOCK_SCHEDULE_H
