#include "experiment/partners.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <vector>

using coz::draw_pair_block;
using coz::PairSpeedups;
using coz::Partners;
using coz::Random;
using coz::TargetShare;

namespace {

const std::vector<TargetShare> kTwoLarge = {{7, 0.9}, {8, 0.8}, {9, 0.05}};

// How often each target was the partner of `main` in so many blocks.
std::map<std::uint32_t, int> draw_often(Partners& partners, std::uint32_t main,
                                        const std::vector<TargetShare>& targets, int blocks) {
  std::map<std::uint32_t, int> found;
  for (int i = 0; i < blocks; ++i) {
    if (const auto partner = partners.draw(main, targets)) ++found[*partner];
  }
  return found;
}

}  // namespace

TEST_CASE("the other large target is the partner, every fourth block") {
  Partners partners;
  CHECK(draw_often(partners, 7, kTwoLarge, 3).empty());
  CHECK(draw_often(partners, 7, kTwoLarge, 9) == std::map<std::uint32_t, int>{{8, 3}});
}

TEST_CASE("small targets are no partners and have none") {
  Partners partners;
  CHECK(draw_often(partners, 9, kTwoLarge, 40).empty());
  CHECK(draw_often(partners, 7, {{7, 0.9}, {9, 0.05}}, 40).empty());
}

TEST_CASE("a pair that had its blocks comes again seldom, whichever of the two is main") {
  Partners partners;
  const int blocks = coz::kPairInterval * coz::kBlocksToKnow;
  CHECK(draw_often(partners, 7, kTwoLarge, blocks)[8] == coz::kBlocksToKnow);
  CHECK(draw_often(partners, 8, kTwoLarge, 10 * coz::kKnownPairInterval)[7] == 10);
}

TEST_CASE("pairs take turns, those that could save more first") {
  Partners partners;
  const std::vector<TargetShare> targets = {{1, 0.5}, {2, 0.4}, {3, 0.15}};
  CHECK(draw_often(partners, 1, targets, 4) == std::map<std::uint32_t, int>{{2, 1}});
  auto found = draw_often(partners, 1, targets, 4 * 11);
  CHECK(found[2] == coz::kBlocksToKnow - 1);
  CHECK(found[3] >= 3);
}

TEST_CASE("of many large targets, the five largest have partners") {
  Partners partners;
  std::vector<TargetShare> targets;
  for (std::uint32_t i = 0; i < 8; ++i) targets.push_back({i, 0.3 - 0.02 * i});
  CHECK(draw_often(partners, 7, targets, 40).empty());
  const auto found = draw_often(partners, 0, targets, 200);
  CHECK(found.size() == coz::kMaxInPairs - 1);
}

TEST_CASE("each half of a pair block has none, either and both") {
  Random random(1);
  std::map<std::vector<int>, int> orders;
  for (int i = 0; i < 100; ++i) {
    const std::vector<PairSpeedups> block = draw_pair_block(random);
    REQUIRE(block.size() == 8);
    for (int half = 0; half < 2; ++half) {
      std::vector<int> part;
      for (int k = 4 * half; k < 4 * half + 4; ++k) {
        part.push_back(block[k].main + 1000 * block[k].partner);
      }
      ++orders[part];
      std::sort(part.begin(), part.end());
      CHECK(part == std::vector<int>{0, 50, 50000, 50050});
    }
  }
  CHECK(orders.size() > 20);
}
