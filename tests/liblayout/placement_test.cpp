#include "liblayout/placement.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <numeric>
#include <vector>

using coz::LayoutUnit;
using namespace coz::layout;

namespace {

struct Placed {
  std::vector<std::uint64_t> offsets;
  std::uint64_t size = 0;
};

Placed place(const std::vector<LayoutUnit>& units, std::uint32_t alignment, std::uint64_t seed,
             Order kind = Order::kRandom) {
  Random random(seed);
  Placed placed{std::vector<std::uint64_t>(units.size()), 0};
  std::vector<std::uint32_t> order(units.size());
  placed.size = place_units(units, alignment, kind, random, order, placed.offsets);
  return placed;
}

std::vector<LayoutUnit> some_units() {
  std::vector<LayoutUnit> units;
  std::uint32_t at = 0x1003;
  for (std::uint32_t i = 0; i < 200; ++i) {
    units.push_back({at, 1 + i * 7 % 90, 0});
    at += units.back().size + i % 5;
  }
  return units;
}

}  // namespace

TEST_CASE("copies do not overlap, and keep what their addresses are modulo the alignment",
          "[layout]") {
  const auto units = some_units();
  for (const std::uint32_t alignment : {16U, 32U, 64U}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const Placed placed = place(units, alignment, seed);
      std::vector<std::size_t> by_place(units.size());
      std::iota(by_place.begin(), by_place.end(), std::size_t{0});
      std::sort(by_place.begin(), by_place.end(),
                [&](auto a, auto b) { return placed.offsets[a] < placed.offsets[b]; });
      std::uint64_t end = 0;
      for (const std::size_t i : by_place) {
        REQUIRE(placed.offsets[i] >= end);
        REQUIRE(placed.offsets[i] % alignment == units[i].begin % alignment);
        end = placed.offsets[i] + units[i].size;
      }
      REQUIRE(placed.size == end);
    }
  }
}

TEST_CASE("a seed is one layout, and each unit comes everywhere", "[layout]") {
  const auto units = some_units();
  CHECK(place(units, 16, 5).offsets == place(units, 16, 5).offsets);
  CHECK(place(units, 16, 5).offsets != place(units, 16, 6).offsets);
  std::map<std::size_t, int> ranks;
  std::map<std::uint64_t, int> lines;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const auto offsets = place(units, 16, seed).offsets;
    const auto before = std::count_if(offsets.begin(), offsets.end(),
                                      [&](std::uint64_t each) { return each < offsets[7]; });
    ++ranks[static_cast<std::size_t>(before) / 20];
    ++lines[offsets[7] / 16 % 4];
  }
  REQUIRE(ranks.size() == 10);  // each holds 100 of 1000 on average
  for (const auto& [tenth, times] : ranks) CHECK((times > 50 && times < 160));
  REQUIRE(lines.size() == 4);
  for (const auto& [line, times] : lines) CHECK((times > 170 && times < 340));
}

TEST_CASE("copies of the original layout keep all distances", "[layout]") {
  const auto units = some_units();
  const auto offsets = place(units, 16, 1, Order::kOriginal).offsets;
  for (std::size_t i = 0; i < units.size(); ++i) {
    REQUIRE(offsets[i] - offsets[0] == units[i].begin - units[0].begin);
    REQUIRE(offsets[i] % 4096 == units[i].begin % 4096);
  }
}

TEST_CASE("copies are within reach of the whole program", "[layout]") {
  constexpr std::uint64_t kReach = std::uint64_t{1} << 31;
  for (const std::uint64_t image : {0x400000ULL, 0x555555554000ULL, 0x7ffff7000000ULL}) {
    for (const std::uint64_t image_size : {0x1000ULL, 0x3000000ULL, 0x30000000ULL}) {
      Random random(image_size);
      std::map<std::uint64_t, int> bases;
      for (int i = 0; i < 100; ++i) {
        const std::uint64_t size = image_size / 2 + 4096;
        const std::uint64_t base = choose_base(image, image_size, size, random);
        REQUIRE(base % 4096 == 0);
        REQUIRE((base + size <= image || base >= image + image_size));
        REQUIRE(std::max(base + size, image + image_size) - std::min(base, image) < kReach);
        ++bases[base];
      }
      CHECK(bases.size() > 90);
    }
  }
  Random random(1);
  CHECK(choose_base(0x400000, kReach, 4096, random) == 0);
}

TEST_CASE("units that are not moved lie as the linker left them, behind the others", "[layout]") {
  const auto units = some_units();
  const Placed all = place(units, 16, 3);
  auto offsets = all.offsets;
  const std::uint64_t end = keep_others(units, UnitRanges("0-3,100-100"), all.size, offsets);
  for (std::uint32_t i = 0; i < units.size(); ++i) {
    if (i <= 3 || i == 100) {
      REQUIRE(offsets[i] == all.offsets[i]);
    } else {
      REQUIRE(offsets[i] >= all.size);
      REQUIRE(offsets[i] + units[i].size <= end);
      REQUIRE(offsets[i] - offsets[4] == units[i].begin - units[4].begin);
      REQUIRE(offsets[i] % 4096 == units[i].begin % 4096);
    }
  }
  CHECK(keep_others(units, UnitRanges(""), all.size, offsets) == end);
}

TEST_CASE("ranges of units, in any order, may be followed by commas", "[layout]") {
  const UnitRanges ranges("7-9,2-2,40000-40001,,,,");
  for (const std::uint32_t unit : {2U, 7U, 8U, 9U, 40000U, 40001U}) CHECK(ranges.has(unit));
  for (const std::uint32_t unit : {0U, 1U, 3U, 6U, 10U, 39999U}) CHECK_FALSE(ranges.has(unit));
  CHECK_FALSE(UnitRanges(",,").has(0));
  CHECK_FALSE(UnitRanges("x-3,4").has(3));
}
