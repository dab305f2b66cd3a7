// Time before the first visit to a progress point, and after the last, in which the program did
// nothing: a server before its load comes and after it has gone. It is no part of the run to which
// effects are scaled (cozcli/analysis/correct/phase.py). Idle time between visits counts: there a
// program may wait for a file of its own.
//
// A slice of time is idle if there was no visit in it, and hardly any processor time was used.
// Plain logic, for one thread.
#ifndef LIBCOZ_EXPERIMENT_IDLE_ENDS_H
#define LIBCOZ_EXPERIMENT_IDLE_ENDS_H

#include <cstdint>

#include "common/clock.h"

namespace coz {

class IdleEnds {
 public:
  // Totals since the start of the run.
  struct Totals {
    Nanoseconds run_time = 0;  // effective
    Nanoseconds processor_time = 0;
    std::uint64_t visits = 0;
  };

  // Call it often. `last`: the slice ends here, however short it is.
  void look(const Totals& totals, bool last = false) noexcept {
    const Nanoseconds length = totals.run_time - before_.run_time;
    if (length < kMinSlice && !last) return;
    if (totals.visits != before_.visits) {
      is_visited_ = true;
      end_ = 0;
    } else if (totals.processor_time - before_.processor_time < length / kMinBusyPart) {
      (is_visited_ ? end_ : beginning_) += length;
    }
    before_ = totals;
  }

  // In effective time, until the last look. A run without visits has none.
  [[nodiscard]] Nanoseconds idle() const noexcept { return is_visited_ ? beginning_ + end_ : 0; }

 private:
  static constexpr Nanoseconds kMinSlice = 100 * kMillisecond;
  static constexpr Nanoseconds kMinBusyPart = 20;  // a twentieth

  Totals before_;
  bool is_visited_ = false;
  Nanoseconds beginning_ = 0;
  Nanoseconds end_ = 0;
};

}  // namespace coz

#endif  // LIBCOZ_EXPERIMENT_IDLE_ENDS_H
