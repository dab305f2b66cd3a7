#include "common/perf_event.h"

#include <catch2/catch.hpp>

using coz::is_at_least;

TEST_CASE("kernel releases are compared by number") {
  CHECK(is_at_least("5.19.0", 5, 19));
  CHECK(is_at_least("5.19-rc1", 5, 19));
  CHECK(is_at_least("6.1.0-44-amd64", 5, 19));
  CHECK(is_at_least("10.0", 5, 19));
  CHECK_FALSE(is_at_least("5.15.0-91-generic", 5, 19));
  CHECK_FALSE(is_at_least("5.2.0", 5, 19));
  CHECK_FALSE(is_at_least("4.20", 5, 19));
  CHECK_FALSE(is_at_least("5", 5, 19));
  CHECK_FALSE(is_at_least("", 5, 19));
}
