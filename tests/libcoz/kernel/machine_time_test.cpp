#include "kernel/machine_time.h"

#include <catch2/catch.hpp>

using coz::kMillisecond;
using coz::machine_time_since;
using coz::MachineTime;
using coz::parse_machine_time;

TEST_CASE("what processors did: all work counts as busy, idling and waiting for disks do not") {
  const auto time = parse_machine_time("cpu  100 20 3 5000 600 7 8 90 1000 1000\ncpu0 1", 100);
  REQUIRE(time);
  CHECK(time->busy == (100 + 20 + 3 + 7 + 8) * 10 * kMillisecond);
  CHECK(time->stolen == 900 * kMillisecond);
}

TEST_CASE("ticks may have another length") {
  const auto time = parse_machine_time("cpu 1 0 0 0 0 0 0 2", 1000);
  REQUIRE(time);
  CHECK(time->busy == kMillisecond);
  CHECK(time->stolen == 2 * kMillisecond);
}

TEST_CASE("what is no such line is refused") {
  CHECK_FALSE(parse_machine_time("", 100));
  CHECK_FALSE(parse_machine_time("cpu0 1 2 3 4 5 6 7 8", 100));
  CHECK_FALSE(parse_machine_time("cpu 1 2 3 4 5 6 7", 100));  // a kernel without the eighth column
  CHECK_FALSE(parse_machine_time("cpu 1 2 3 4 5 6 7 x", 100));
  CHECK_FALSE(parse_machine_time("cpu 1 2 -3 4 5 6 7 8", 100));
  CHECK_FALSE(parse_machine_time("cpu 1000000000000000 2 3 4 5 6 7 8", 100));
  CHECK_FALSE(parse_machine_time("cpu 1 2 3 4 5 6 7 8", 0));
  CHECK_FALSE(parse_machine_time("cpu 1 2 3 4 5 6 7 8", -1));
}

TEST_CASE("the longest numbers do not overflow") {
  const char* line =
      "cpu 999999999999999 999999999999999 999999999999999 0 0 999999999999999 999999999999999 9";
  CHECK_FALSE(parse_machine_time(line, 100));
}

TEST_CASE("between two moments") {
  CHECK_FALSE(machine_time_since(std::nullopt));
  const auto since = machine_time_since(MachineTime{0, 0});
  if (since) {  // in a virtual machine
    CHECK(since->busy > 0);
    CHECK(since->stolen >= 0);
    // As where a processor has gone.
    CHECK_FALSE(machine_time_since(MachineTime{INT64_MAX, 0}));
  }
}
