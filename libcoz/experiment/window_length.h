// How long a window is: long enough for the points that are alive to be visited several times.
//
// A point counts as alive by its visits in the windows just measured; an idle one asks for
// nothing, and a slow one beside a fast one asks for no more than kMaxForSlow. When even the
// fastest is slow, windows grow up to kMaxLength for it. Plain logic; one thread.
#ifndef LIBCOZ_EXPERIMENT_WINDOW_LENGTH_H
#define LIBCOZ_EXPERIMENT_WINDOW_LENGTH_H

#include <span>

#include "common/clock.h"

namespace coz {

class WindowLength {
 public:
  static constexpr Nanoseconds kMinLength = 150 * kMillisecond;
  static constexpr Nanoseconds kMaxForSlow = 1 * kSecond;
  static constexpr Nanoseconds kMaxLength = 10 * kSecond;
  // Many short windows beat few long ones: a disturbance of the machine then spoils few of them,
  // and analysis can tell which. With fewer visits, settling and the edges would take most time.
  static constexpr int kVisitsWanted = 6;

  Nanoseconds get() const noexcept { return length_; }

  // Real time for which a new speedup is held before its window opens: transients (queues that
  // fill or drain) take a part of the window's own scale.
  Nanoseconds settling() const noexcept;

  // After a window of real length `measured`: the visits of each point in it.
  void observe(std::span<const double> visits, Nanoseconds measured) noexcept;

 private:
  Nanoseconds length_ = kMinLength;
};

}  // namespace coz

#endif  // LIBCOZ_EXPERIMENT_WINDOW_LENGTH_H
