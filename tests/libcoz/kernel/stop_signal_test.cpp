#include "kernel/stop_signal.h"

#include <unistd.h>

#include <catch2/catch.hpp>

using coz::kMillisecond;
using coz::StopSignal;

TEST_CASE("a process that stood still between two sleeps is noticed", "[stop]") {
  StopSignal stop;
  usleep(1'100'000);  // nobody has slept before
  CHECK(stop.sleep_for(kMillisecond));
  CHECK(stop.sleep_for(kMillisecond));
  CHECK(stop.standstill() == 0);
  usleep(1'100'000);  // for the thread as if it was stopped
  CHECK(stop.sleep_for(kMillisecond));
  CHECK(stop.standstill() >= 1100 * kMillisecond);
}

TEST_CASE("a sleep ends when it is stopped", "[stop]") {
  StopSignal stop;
  stop.stop();
  CHECK_FALSE(stop.sleep_for(3600 * coz::kSecond));
}
