// What the profile says about load amplification (docs/profile_format.md).
#ifndef LIBCOZ_LOAD_LOAD_RECORDS_H
#define LIBCOZ_LOAD_LOAD_RECORDS_H

#include "load/amplification.h"

namespace coz {

// The arrivals in a window, and by how much each was to come earlier.
struct LoadResult {
  Nanoseconds arrival_speedup = 0;
  ArrivalCounts counts;
};

// How often requests arrived before load was amplified, and by how much it then was.
struct LoadRecord {
  Nanoseconds start = 0;
  Nanoseconds duration = 0;
  Nanoseconds arrival_speedup = 0;
  Nanoseconds interval = 0;  // between arrivals in one thread, on average
  double rate = 0;           // of all arrivals, per second
};

}  // namespace coz

#endif  // LIBCOZ_LOAD_LOAD_RECORDS_H
