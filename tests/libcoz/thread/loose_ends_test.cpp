#include "thread/loose_ends.h"

#include <catch2/catch.hpp>

using coz::LooseEnds;

TEST_CASE("the second end of a connection finds the first, and is not kept") {
  LooseEnds ends;
  CHECK_FALSE(ends.meet(7, 100));
  CHECK(ends.meet(7, 101) == 100);
  ends.leave(7, 101);
  CHECK_FALSE(ends.meet(7, 102));
}

TEST_CASE("connections do not mix, even at one place of the table") {
  LooseEnds ends;
  for (std::uint32_t ports = 1; ports < 5000; ++ports) CHECK_FALSE(ends.meet(ports, 1));
  CHECK(ends.meet(4999, 2) == 1);
}

TEST_CASE("an end of a connection does not meet itself") {
  LooseEnds ends;
  CHECK_FALSE(ends.meet(7, 100));
  CHECK_FALSE(ends.meet(7, 100));
}
