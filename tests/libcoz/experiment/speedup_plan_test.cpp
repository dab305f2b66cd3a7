#include "experiment/speedup_plan.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <optional>
#include <vector>

using coz::kSpeedups;
using coz::kWindowsPerBlock;
using coz::Random;
using coz::SpeedupPlan;

TEST_CASE("a block tries every speedup once, beside two baselines") {
  Random random(1);
  const SpeedupPlan plan(std::nullopt);
  std::vector<int> wanted(kSpeedups.begin(), kSpeedups.end());
  wanted.insert(wanted.end(), {0, 0});
  std::sort(wanted.begin(), wanted.end());
  for (int i = 0; i < 500; ++i) {
    std::vector<int> block = plan.next_block(random);
    std::sort(block.begin(), block.end());
    REQUIRE(block == wanted);
  }
}

TEST_CASE("each half of a block has a baseline, wherever in it") {
  Random random(2);
  const SpeedupPlan plan(std::nullopt);
  constexpr int kBlocks = 4000;
  constexpr auto kHalf = static_cast<std::ptrdiff_t>(kWindowsPerBlock / 2);
  std::vector<int> baselines_at(kWindowsPerBlock);
  for (int i = 0; i < kBlocks; ++i) {
    const std::vector<int> block = plan.next_block(random);
    REQUIRE(std::count(block.begin(), block.begin() + kHalf, 0) == 1);
    for (std::size_t place = 0; place < block.size(); ++place) {
      baselines_at[place] += block[place] == 0;
    }
  }
  for (const int count : baselines_at) CHECK(count == Approx(kBlocks * 0.25).margin(140));
}

TEST_CASE("no speedup has a fixed place in the block") {
  Random random(3);
  const SpeedupPlan plan(std::nullopt);
  constexpr int kBlocks = 8000;
  for (const int speedup : kSpeedups) {
    Random order(4);
    std::vector<int> at(kWindowsPerBlock);
    for (int i = 0; i < kBlocks; ++i) {
      const std::vector<int> block = plan.next_block(order);
      ++at[static_cast<std::size_t>(std::find(block.begin(), block.end(), speedup) -
                                    block.begin())];
    }
    for (const int count : at) CHECK(count == Approx(kBlocks / 8).margin(150));
  }
}

TEST_CASE("a fixed speedup is the only treatment, beside as many baselines") {
  Random random(6);
  const SpeedupPlan plan(35);
  std::vector<int> block = plan.next_block(random);
  std::sort(block.begin(), block.end());
  CHECK(block == std::vector<int>{0, 0, 0, 0, 35, 35, 35, 35});
  CHECK(plan.for_whole_run(random) == 35);
}

TEST_CASE("a fixed speedup of 0 means baselines alone") {
  Random random(7);
  const SpeedupPlan plan(0);
  CHECK(plan.next_block(random) == std::vector<int>(kWindowsPerBlock, 0));
  CHECK(plan.for_whole_run(random) == 0);
}

TEST_CASE("for a whole run: 0 half the time, else any treatment equally often") {
  Random random(8);
  const SpeedupPlan plan(std::nullopt);
  constexpr int kRuns = 36000;
  std::map<int, int> chosen;
  for (int i = 0; i < kRuns; ++i) ++chosen[plan.for_whole_run(random)];
  CHECK(chosen.size() == kSpeedups.size() + 1);
  CHECK(chosen[0] == Approx(kRuns / 2).margin(500));
  for (const int speedup : kSpeedups) CHECK(chosen[speedup] == Approx(kRuns / 12).margin(280));
}

TEST_CASE("the same seed plans the same blocks") {
  Random a(9);
  Random b(9);
  const SpeedupPlan plan(std::nullopt);
  for (int i = 0; i < 50; ++i) REQUIRE(plan.next_block(a) == plan.next_block(b));
}
