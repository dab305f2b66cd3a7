#include "thread/socket_pairs.h"

#include <catch2/catch.hpp>

using coz::SocketPairs;

TEST_CASE("each end of a pair knows the other") {
  SocketPairs pairs;
  CHECK_FALSE(pairs.other_end(5));
  CHECK_FALSE(pairs.other_end(0));
  pairs.add(5, 6);
  CHECK(pairs.other_end(5) == 6U);
  CHECK(pairs.other_end(6) == 5U);
  CHECK_FALSE(pairs.other_end(7));
}

TEST_CASE("a newer pair may take the place of an older one, which is then unknown") {
  SocketPairs pairs;
  for (std::uint64_t inode = 0; inode < 10'000; inode += 2) pairs.add(inode, inode + 1);
  CHECK_FALSE(pairs.other_end(0));
  CHECK(pairs.other_end(9998) == 9999U);
}
