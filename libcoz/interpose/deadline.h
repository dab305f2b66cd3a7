// Deadlines of calls that wait, which rules postpone (delay/call_rules.h).
#ifndef LIBCOZ_INTERPOSE_DEADLINE_H
#define LIBCOZ_INTERPOSE_DEADLINE_H

#include <algorithm>
#include <ctime>

#include "common/clock.h"

namespace coz {

// When a deadline was that has passed, by CLOCK_REALTIME or CLOCK_MONOTONIC. A condition does not
// show which of the two it uses, but no machine has run for as long as it is since 1970.
inline Nanoseconds time_of(const timespec* deadline) noexcept {
  if (deadline == nullptr) return now();
  const Nanoseconds at = deadline->tv_sec * kSecond + deadline->tv_nsec;
  const Nanoseconds current = now();
  return at <= current ? at : current - std::max<Nanoseconds>(0, wall_clock() - at);
}

// A deadline, or a later one. An invalid deadline stays as the program gave it, so that libc
// returns its error, and so does one that is never reached.
class Deadline {
 public:
  Deadline(const timespec* given, Nanoseconds later) : deadline_(given) {
    constexpr time_t kNever = 1L << 40;
    if (later == 0 || given == nullptr || given->tv_sec > kNever) return;
    if (given->tv_nsec < 0 || given->tv_nsec >= kSecond) return;
    const Nanoseconds nanoseconds = given->tv_nsec + later;
    later_ = {given->tv_sec + nanoseconds / kSecond, nanoseconds % kSecond};
    deadline_ = &later_;
  }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  const timespec* get() const noexcept { return deadline_; }

 private:
  const timespec* deadline_;
  timespec later_;
};

}  // namespace coz

#endif  // LIBCOZ_INTERPOSE_DEADLINE_H
