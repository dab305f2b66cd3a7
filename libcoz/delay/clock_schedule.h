// A thread that waits for times of a schedule: it adds a step to its last deadline, and does not
// read the clock again.
//
// Such a schedule takes no notice of delays. A thread that pays them after each wait sleeps less
// the next time: it comes as often as before in real time, and so too often in effective time. With
// D the deadline, L the delay that the thread has served, and L_0 what it had served when the
// schedule began, the wait has to end at D + (L − L_0).
//
// A schedule is known by its steps: several in a row are equal to the nanosecond. Where a deadline
// depends on the clock, they never are. Where the program is late and begins anew, a step differs,
// and nothing is postponed until several are equal again.
//
// One thread owns it. Time is handed in, ns. Zeroed memory knows no schedule.
#ifndef LIBCOZ_DELAY_CLOCK_SCHEDULE_H
#define LIBCOZ_DELAY_CLOCK_SCHEDULE_H

#include <algorithm>

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

}  // namespace coz

#endif  // LIBCOZ_DELAY_CLOCK_SCHEDULE_H
