// How what is to be charged for samples decays (charge_smoother.h).
#ifndef LIBCOZ_DELAY_DECAY_H
#define LIBCOZ_DELAY_DECAY_H

#include "common/clock.h"

namespace coz {

// How a bucket of `line_time` decays: in a time t it loses line_time · t/(scale + t).
struct Decay {
  Nanoseconds since = 0;
  Nanoseconds line_time = 0;
  Nanoseconds scale = 0;

  // In whole numbers: the program may have turned inexact results into a signal (feenableexcept).
  Nanoseconds by(Nanoseconds now) const noexcept {
    __extension__ using Wide = __int128;
    const Nanoseconds ran = now - since;
    if (ran <= 0) return 0;
    return static_cast<Nanoseconds>(static_cast<Wide>(line_time) * ran / (scale + ran));
  }
};

}  // namespace coz

#endif  // LIBCOZ_DELAY_DECAY_H
