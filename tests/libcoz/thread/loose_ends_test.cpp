#include "thread/loose_ends.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <utility>

using coz::LooseEnds;

namespace {
constexpr auto kClient = LooseEnds::End::kClient;
constexpr auto kServer = LooseEnds::End::kServer;
}  // namespace

TEST_CASE("the second end of a connection finds the first, and is not kept") {
  const auto [first, second] = GENERATE(std::pair(kClient, kServer), std::pair(kServer, kClient));
  LooseEnds ends;
  CHECK_FALSE(ends.meet(7, 100, first));
  CHECK(ends.meet(7, 101, second) == 100);
  ends.leave(7, 101, second);
  CHECK_FALSE(ends.meet(7, 102, first));
}

TEST_CASE("two clients with one name do not meet") {
  LooseEnds ends;
  CHECK_FALSE(ends.meet(7, 100, kClient));
  CHECK_FALSE(ends.meet(7, 101, kClient));
  CHECK(ends.meet(7, 102, kServer) == 101);
}

TEST_CASE("connections do not mix, even at one place of the table") {
  LooseEnds ends;
  for (std::uint32_t ports = 1; ports < 5000; ++ports) CHECK_FALSE(ends.meet(ports, 1, kClient));
  CHECK(ends.meet(4999, 2, kServer) == 1);
}

TEST_CASE("many connections to one port may be made before they are accepted") {
  for (const std::uint32_t server : {0x18ebU, 0x901fU, 0x5000U, 0xea0cU}) {
    LooseEnds ends;
    const auto ports_of = [=](std::uint32_t client) {
      const std::uint32_t port = (32768 + 2 * client) & 0xffffU;
      const std::uint32_t raw = (port & 0xffU) << 8U | port >> 8U;  // in network order
      return std::min(raw, server) << 16U | std::max(raw, server);
    };
    for (std::uint32_t client = 0; client < 100; ++client)
      ends.meet(ports_of(client), client + 1, kClient);
    int found = 0;
    for (std::uint32_t client = 0; client < 100; ++client) {
      const auto met = ends.meet(ports_of(client), client + 1001, kServer);
      found += met == client + 1 ? 1 : 0;
    }
    CHECK(found > 85);
  }
}

TEST_CASE("an end of a connection does not meet itself") {
  LooseEnds ends;
  CHECK_FALSE(ends.meet(7, 100, kClient));
  CHECK_FALSE(ends.meet(7, 100, kClient));
}
