#include "thread/signals_in_pause.h"

#include <catch2/catch.hpp>

TEST_CASE("a thread's event is stopped only after some signals in one pause") {
  coz::SignalsInPause signals;
  for (std::uint32_t pause = 1; pause < 100; pause += 2) CHECK_FALSE(signals.are_too_many(pause));
  for (int i = 0; i < coz::SignalsInPause::kMax; ++i) CHECK_FALSE(signals.are_too_many(101));
  CHECK(signals.are_too_many(101));
  CHECK_FALSE(signals.are_too_many(103));
}
