#include "kernel/lossy_map.h"

#include <catch2/catch.hpp>

using Map = coz::LossyMap<10>;

TEST_CASE("a lossy map knows the newest value of a key") {
  Map map;
  CHECK_FALSE(map.get(5));
  CHECK_FALSE(map.get(0));
  map.set(5, 6);
  CHECK(map.get(5) == 6U);
  map.set(5, 7);
  CHECK(map.get(5) == 7U);
  CHECK_FALSE(map.get(6));
}

TEST_CASE("what is removed from a lossy map is unknown, and what has taken its place stays") {
  Map map;
  map.set(5, 6);
  map.remove(5);
  CHECK_FALSE(map.get(5));
  map.set(5, 6);
  std::uint64_t other = 6;  // until one takes its place
  for (; map.get(5); ++other) map.set(other, other + 1);
  map.remove(5);
  CHECK_FALSE(map.get(5));
  CHECK(map.get(other - 1) == other);
}
