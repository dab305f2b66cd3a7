// What threads did between two readings.
#include "experiment/flow_reading.h"

#include <catch2/catch.hpp>

using coz::flow_between;
using coz::FlowReading;
using coz::FlowResult;

TEST_CASE("a thread or a point that a reading does not have had done nothing before") {
  FlowReading from;
  from.threads = {{1, 0, 500, 5, 2, 0, {}}};
  from.visits = {{"old", 3}};
  FlowReading to;
  to.time = 1000;
  to.delay = 100;
  to.threads = {{1, 0, 900, 9, 5, 0, {}}, {2, 1, 300, 4, 0, 0, {{0x10, 0, 70, 0x8}}}};
  to.visits = {{"old", 10}, {"new", 4}};
  const FlowResult flow = flow_between(from, to);
  CHECK(flow.duration == 1000);
  CHECK(flow.delay == 100);
  REQUIRE(flow.visits.size() == 2);
  CHECK(flow.visits[0].count == 7);
  CHECK(flow.visits[1].count == 4);
  REQUIRE(flow.threads.size() == 2);
  CHECK(flow.threads[0].ran == 400);
  CHECK(flow.threads[0].releases == 4);
  CHECK(flow.threads[0].target_samples == 3);
  CHECK(flow.threads[1].ran == 300);
  REQUIRE(flow.threads[1].waits.size() == 1);
  CHECK(flow.threads[1].waits[0].waker == 1);
  CHECK(flow.threads[1].waits[0].waited == 70);
}

TEST_CASE("a thread that a partial reading does not have is left out") {
  FlowReading from;
  from.threads = {{1, 0, 500, 5, 2, 0, {}}};
  from.is_whole = false;
  FlowReading to;
  to.time = 1000;
  to.threads = {{1, 0, 900, 9, 5, 0, {}}, {2, 1, 30'000, 400, 0, 0, {}}};
  const FlowResult flow = flow_between(from, to);
  REQUIRE(flow.threads.size() == 1);
  CHECK(flow.threads[0].thread == 1);
  CHECK(flow.threads[0].ran == 400);
}
