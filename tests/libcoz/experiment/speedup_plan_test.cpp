#include "experiment/speedup_plan.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <optional>
#include <set>
#include <vector>

using coz::kBaselinesPerBlock;
using coz::kSpeedups;
using coz::kTreatmentsPerBlock;
using coz::Random;
using coz::SpeedupPlan;

namespace {

constexpr std::size_t kWindowsPerBlock = kBaselinesPerBlock + kTreatmentsPerBlock;

bool is_treatment(int speedup) {
  return std::find(kSpeedups.begin(), kSpeedups.end(), speedup) != kSpeedups.end();
}

}  // namespace

TEST_CASE("a block holds two baselines and three treatments") {
  Random random(1);
  SpeedupPlan plan(std::nullopt);
  for (int i = 0; i < 500; ++i) {
    const std::vector<int> block = plan.next_block(4, random);
    REQUIRE(block.size() == kWindowsPerBlock);
    REQUIRE(std::count(block.begin(), block.end(), 0) == 2);
    REQUIRE(std::count_if(block.begin(), block.end(), is_treatment) == 3);
  }
}

TEST_CASE("the decks are balanced: each speedup comes as often as any other") {
  Random random(2);
  SpeedupPlan plan(std::nullopt);
  std::map<int, int> dealt;
  // Eight blocks of three treatments use up three decks of eight.
  for (std::size_t block = 0; block < kSpeedups.size(); ++block) {
    for (const int speedup : plan.next_block(4, random)) ++dealt[speedup];
  }
  for (const int speedup : kSpeedups) CHECK(dealt[speedup] == kTreatmentsPerBlock);
}

TEST_CASE("a curve has points over its whole range after three blocks") {
  Random random(3);
  SpeedupPlan plan(std::nullopt);
  std::set<int> dealt;
  for (int block = 0; block < 3; ++block) {
    for (const int speedup : plan.next_block(4, random)) dealt.insert(speedup);
  }
  CHECK(dealt.size() == kSpeedups.size() + 1);
}

TEST_CASE("each line has a deck of its own") {
  Random random(4);
  SpeedupPlan plan(std::nullopt);
  std::map<std::uint32_t, std::set<int>> dealt;
  for (int block = 0; block < 3; ++block) {
    for (const std::uint32_t line : {7U, 8U, 9U}) {
      for (const int speedup : plan.next_block(line, random)) dealt[line].insert(speedup);
    }
  }
  for (const auto& [line, speedups] : dealt) CHECK(speedups.size() == kSpeedups.size() + 1);
}

TEST_CASE("neither baselines nor speedups have a fixed place in the block") {
  Random random(5);
  SpeedupPlan plan(std::nullopt);
  constexpr int kBlocks = 4000;
  std::vector<int> baselines_at(kWindowsPerBlock);
  for (int i = 0; i < kBlocks; ++i) {
    const std::vector<int> block = plan.next_block(4, random);
    for (std::size_t place = 0; place < block.size(); ++place) {
      baselines_at[place] += block[place] == 0;
    }
  }
  for (const int count : baselines_at) CHECK(count == Approx(kBlocks * 0.4).margin(160));
}

TEST_CASE("a fixed speedup is the only treatment, beside its baselines") {
  Random random(6);
  SpeedupPlan plan(35);
  std::vector<int> block = plan.next_block(4, random);
  std::sort(block.begin(), block.end());
  CHECK(block == std::vector<int>{0, 0, 35, 35, 35});
  CHECK(plan.for_whole_run(random) == 35);
}

TEST_CASE("a fixed speedup of 0 means baselines alone") {
  Random random(7);
  SpeedupPlan plan(0);
  CHECK(plan.next_block(4, random) == std::vector<int>(kWindowsPerBlock, 0));
  CHECK(plan.for_whole_run(random) == 0);
}

TEST_CASE("for a whole run: 0 half the time, else any treatment equally often") {
  Random random(8);
  const SpeedupPlan plan(std::nullopt);
  constexpr int kRuns = 40000;
  std::map<int, int> chosen;
  for (int i = 0; i < kRuns; ++i) ++chosen[plan.for_whole_run(random)];
  CHECK(chosen.size() == kSpeedups.size() + 1);
  CHECK(chosen[0] == Approx(kRuns / 2).margin(500));
  for (const int speedup : kSpeedups) CHECK(chosen[speedup] == Approx(kRuns / 16).margin(250));
}

TEST_CASE("the same seed plans the same blocks") {
  Random a(9);
  Random b(9);
  SpeedupPlan plan_a(std::nullopt);
  SpeedupPlan plan_b(std::nullopt);
  for (std::uint32_t i = 0; i < 50; ++i) {
    REQUIRE(plan_a.next_block(i % 3, a) == plan_b.next_block(i % 3, b));
  }
}
