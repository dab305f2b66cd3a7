#include "thread/lossy_map.h"

#include <catch2/catch.hpp>

using coz::LossyMap;

TEST_CASE("a lossy map knows the newest value of a key") {
  LossyMap map;
  CHECK_FALSE(map.get(5));
  CHECK_FALSE(map.get(0));
  map.set(5, 6);
  CHECK(map.get(5) == 6U);
  map.set(5, 7);
  CHECK(map.get(5) == 7U);
  CHECK_FALSE(map.get(6));
}

TEST_CASE("what is removed from a lossy map is unknown, and what has taken its place stays") {
  LossyMap map;
  map.set(5, 6);
  map.remove(5);
  CHECK_FALSE(map.get(5));
  map.set(5, 6);
  for (std::uint64_t key = 6; key < 10'000; ++key) map.set(key, key + 1);
  map.remove(5);
  CHECK_FALSE(map.get(5));
  CHECK(map.get(9998) == 9999U);
  CHECK(map.get(5 + 9 * 1024) == 5U + 9 * 1024 + 1);
}
