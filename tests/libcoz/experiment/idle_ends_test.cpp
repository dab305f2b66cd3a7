#include "experiment/idle_ends.h"

#include <catch2/catch.hpp>

using coz::IdleEnds;
using coz::kMillisecond;

TEST_CASE("idle time before the first visit and after the last is no part of the run",
          "[experiment]") {
  IdleEnds ends;
  IdleEnds::Totals totals;
  const auto pass = [&](int milliseconds, int busy, int visits, bool last = false) {
    totals.run_time += milliseconds * kMillisecond;
    totals.processor_time += busy * kMillisecond;
    totals.visits += visits;
    ends.look(totals, last);
    return ends.idle() / kMillisecond;
  };
  pass(200, 1, 0);
  pass(50, 0, 0);                  // too short by itself
  pass(60, 0, 0);                  // with the one before long enough
  pass(100, 50, 0);                // it starts up: that is work
  CHECK(pass(100, 0, 0) == 0);     // perhaps there are no visits at all
  CHECK(pass(100, 1, 3) == 410);   // few visits and little processor time: the load is small
  CHECK(pass(500, 0, 0) == 910);   // perhaps the load is over
  CHECK(pass(100, 90, 1) == 410);  // it was not
  CHECK(pass(300, 2, 0) == 710);
  CHECK(pass(100, 60, 0) == 710);  // it writes its files, which is work
  CHECK(pass(20, 0, 0, true) == 730);
}
