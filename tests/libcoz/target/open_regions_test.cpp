#include "target/open_regions.h"

#include <catch2/catch.hpp>
#include <vector>

using coz::OpenRegions;

namespace {

std::vector<std::uint32_t> open(const OpenRegions& regions) {
  std::vector<std::uint32_t> found;
  regions.for_each([&](std::uint32_t region) { found.push_back(region); });
  return found;
}

}  // namespace

TEST_CASE("regions may be nested") {
  OpenRegions regions;
  CHECK(regions.is_empty());
  regions.begin(7);
  regions.begin(3);
  CHECK(open(regions) == std::vector<std::uint32_t>{7, 3});
  regions.end(3);
  CHECK(regions.holds(7));
  CHECK_FALSE(regions.holds(3));
  regions.end(7);
  CHECK(regions.is_empty());
}

TEST_CASE("a region that is entered again counts once and is left as often") {
  OpenRegions regions;
  for (int i = 0; i < 3; ++i) regions.begin(5);
  CHECK(open(regions) == std::vector<std::uint32_t>{5});
  regions.end(5);
  regions.end(5);
  CHECK(regions.holds(5));
  regions.end(5);
  CHECK(regions.is_empty());
}

TEST_CASE("recursion may be deeper than there is room, with one region at each level or two") {
  OpenRegions regions;
  constexpr std::uint32_t kLevels = 3 * OpenRegions::kMaxDepth;
  for (std::uint32_t level = 0; level < kLevels; ++level) regions.begin(1 + level % 2);
  regions.begin(3);
  CHECK(open(regions) == std::vector<std::uint32_t>{1, 2, 3});
  regions.end(3);
  for (std::uint32_t level = kLevels; level-- > 2;) {
    regions.end(1 + level % 2);
    CHECK(open(regions) == std::vector<std::uint32_t>{1, 2});
  }
  regions.end(2);
  CHECK(open(regions) == std::vector<std::uint32_t>{1});
  regions.end(1);
  CHECK(regions.is_empty());
}

TEST_CASE("regions may end in another order than they began") {
  OpenRegions regions;
  for (const std::uint32_t region : {1U, 2U, 3U}) regions.begin(region);
  regions.end(1);
  CHECK(open(regions) == std::vector<std::uint32_t>{2, 3});
  regions.end(9);
  CHECK(open(regions) == std::vector<std::uint32_t>{2, 3});
}

TEST_CASE("regions deeper than are kept are counted, so that their ends match") {
  OpenRegions regions;
  for (std::uint32_t region = 0; region < OpenRegions::kMaxDepth + 5; ++region) {
    regions.begin(region);
  }
  CHECK(open(regions).size() == OpenRegions::kMaxDepth);
  for (std::uint32_t region = OpenRegions::kMaxDepth + 5; region-- > OpenRegions::kMaxDepth;) {
    regions.end(region);
  }
  CHECK(open(regions).size() == OpenRegions::kMaxDepth);
  regions.end(OpenRegions::kMaxDepth - 1);
  CHECK(open(regions).size() == OpenRegions::kMaxDepth - 1);
  regions.clear();
  CHECK(regions.is_empty());
}

TEST_CASE("entering and leaving a region shows in the number of changes") {
  OpenRegions regions;
  std::uint32_t before = regions.changes();
  regions.begin(4);
  CHECK(regions.changes() != before);
  before = regions.changes();
  CHECK(regions.changes() == before);
  regions.end(4);
  CHECK(regions.changes() != before);
}
