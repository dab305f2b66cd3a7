// How long a window is: long enough for each point in use to be visited several times.
//
// Only points that were visited in the last window count. The slowest of them asks for a window of
// at most kMaxForSlow; the fastest may ask for up to kMaxLength. If no point was visited, the next
// window is twice as long. Plain logic; one thread.
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
  // Many short windows are better than few long ones: a disturbance of the machine spoils only some
  // of them, which the analysis recognises. With fewer visits, settling and the edges would take
  // most of the time.
  static constexpr int kVisitsWanted = 6;

  Nanoseconds get() const noexcept { return length_; }

  // How long, in real time, a new speedup is in force before its window opens, so that queues reach
  // steady state; a part of the window's own length.
  Nanoseconds queue_settling() const noexcept;

  // After a window of real length `measured`, with the visits of each point in it.
  void observe(std::span<const double> visits, Nanoseconds measured) noexcept;

 private:
  Nanoseconds length_ = kMinLength;
};

}  // namespace coz

#endif  // LIBCOZ_EXPERIMENT_WINDOW_LENGTH_H
