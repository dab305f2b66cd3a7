#include "sampling/speed_probe.h"

#include <catch2/catch.hpp>

using coz::mean_probe_time;
using coz::SpeedProbe;

TEST_CASE("every probe is counted, and takes some time") {
  SpeedProbe probe;
  CHECK(probe.get().probes == 0);
  for (int i = 0; i < 100; ++i) probe.take();
  CHECK(probe.get().probes == 100);
  // 800 turns of a loop: well above what a clock takes, far below a time slice.
  const double mean = mean_probe_time({}, probe.get());
  CHECK(mean > 50);
  CHECK(mean < 1e6);
}

TEST_CASE("the mean is of the probes in between; without any there is none") {
  CHECK(mean_probe_time({1000, 10}, {4000, 20}) == Approx(300));
  CHECK(mean_probe_time({1000, 10}, {1000, 10}) == 0);
}
