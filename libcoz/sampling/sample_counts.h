// What samples add up to, from the start of the run: written by the sample handlers of all threads,
// read by the experimenter.
#ifndef LIBCOZ_SAMPLING_SAMPLE_COUNTS_H
#define LIBCOZ_SAMPLING_SAMPLE_COUNTS_H

#include "sampling/histogram.h"
#include "sampling/sample_cost.h"
#include "sampling/speed_probe.h"

namespace coz {

struct SampleCounts {
  Histogram histogram;
  HandlerTime handler_time;
  SpeedProbe own_speed_probe;
  SpeedProbe* speed_probe = &own_speed_probe;  // or one that programs of a tree share
};

}  // namespace coz

#endif  // LIBCOZ_SAMPLING_SAMPLE_COUNTS_H
