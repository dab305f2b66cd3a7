#include "experiment/speedup_plan.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
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
    std::vector<int> block = plan.draw_speedups(random);
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
    const std::vector<int> block = plan.draw_speedups(random);
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
      const std::vector<int> block = plan.draw_speedups(order);
      ++at[static_cast<std::size_t>(std::find(block.begin(), block.end(), speedup) -
                                    block.begin())];
    }
    for (const int count : at) CHECK(count == Approx(kBlocks / 8).margin(150));
  }
}

TEST_CASE("a fixed speedup is the only treatment, beside as many baselines") {
  Random random(6);
  const SpeedupPlan plan(35);
  std::vector<int> block = plan.draw_speedups(random);
  std::sort(block.begin(), block.end());
  CHECK(block == std::vector<int>{0, 0, 0, 0, 35, 35, 35, 35});
  CHECK(plan.for_whole_run(random) == 35);
}

TEST_CASE("a fixed speedup of 0 means baselines alone") {
  Random random(7);
  const SpeedupPlan plan(0);
  CHECK(plan.draw_speedups(random) == std::vector<int>(kWindowsPerBlock, 0));
  CHECK(plan.for_whole_run(random) == 0);
}

TEST_CASE("a list of any length is tried equally often, never far from a baseline") {
  const std::vector<int> all = {1, 5, 10, 20, 25, 30, 40, 50, 55, 60, 70, 75, 80, 90, 95, 100};
  Random random(10);
  for (std::size_t length = 1; length <= all.size(); ++length) {
    const std::vector<int> chosen(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(length));
    const SpeedupPlan plan(std::nullopt, chosen);
    for (int i = 0; i < 200; ++i) {
      const std::vector<int> block = plan.draw_speedups(random);
      INFO(length << " speedups, " << block.size() << " windows");
      std::map<int, int> times;
      for (const int speedup : block) ++times[speedup];
      const int baselines = times[0];
      times.erase(0);
      REQUIRE(times.size() == length);
      const int treated = static_cast<int>(block.size()) - baselines;
      for (const auto& [speedup, count] : times)
        REQUIRE(count * static_cast<int>(length) == treated);
      REQUIRE(treated >= 4);
      REQUIRE(baselines >= 2);
      REQUIRE(treated <= 3 * baselines);
      // Between two baselines come at most all of two parts.
      int since = 0;
      for (const int speedup : block) {
        since = speedup == 0 ? 0 : since + 1;
        REQUIRE(since <= 6);
      }
    }
  }
}

TEST_CASE("few speedups are in both halves of a block as often") {
  Random random(11);
  for (const std::vector<int>& chosen :
       {std::vector<int>{30}, std::vector<int>{25, 50}, std::vector<int>{20, 50, 80}}) {
    const SpeedupPlan plan(std::nullopt, chosen);
    for (int i = 0; i < 200; ++i) {
      std::vector<int> block = plan.draw_speedups(random);
      const auto middle = block.begin() + static_cast<std::ptrdiff_t>(block.size() / 2);
      std::sort(block.begin(), middle);
      std::sort(middle, block.end());
      REQUIRE(std::equal(block.begin(), middle, middle, block.end()));
    }
  }
}

TEST_CASE("no speedup of a list has a fixed place in the block") {
  Random random(12);
  const std::vector<int> chosen = {20, 40, 60, 80, 100};
  const SpeedupPlan plan(std::nullopt, chosen);
  constexpr int kBlocks = 7000;
  std::map<int, std::vector<int>> at;
  for (int i = 0; i < kBlocks; ++i) {
    const std::vector<int> block = plan.draw_speedups(random);
    REQUIRE(block.size() == 7);
    for (std::size_t place = 0; place < block.size(); ++place) {
      at[block[place]].resize(7);
      ++at[block[place]][place];
    }
  }
  for (const int speedup : chosen) {
    for (const int count : at[speedup]) CHECK(count == Approx(kBlocks / 7).margin(170));
  }
}

TEST_CASE("for a whole run, a list of one speedup has baselines, which a fixed one has not") {
  Random random(13);
  const SpeedupPlan plan(std::nullopt, {40});
  std::map<int, int> chosen;
  for (int i = 0; i < 2000; ++i) ++chosen[plan.for_whole_run(random)];
  CHECK(chosen.size() == 2);
  CHECK(chosen[40] == Approx(1000).margin(120));
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
  for (int i = 0; i < 50; ++i) REQUIRE(plan.draw_speedups(a) == plan.draw_speedups(b));
}

TEST_CASE("there and back, a block rises from a baseline and falls to another") {
  Random random(5);
  const SpeedupPlan plan(std::nullopt);
  std::map<int, int> up;
  constexpr int kBlocks = 2000;
  for (int i = 0; i < kBlocks; ++i) {
    std::vector<int> block = plan.draw_there_and_back(random);
    REQUIRE(block.size() == kWindowsPerBlock);
    REQUIRE(block.front() == 0);
    REQUIRE(block.back() == 0);
    const auto half = block.begin() + kWindowsPerBlock / 2;
    REQUIRE(std::is_sorted(block.begin(), half));
    REQUIRE(std::is_sorted(half, block.end(), std::greater<>()));
    for (auto speedup = block.begin(); speedup < half; ++speedup) ++up[*speedup];
    std::sort(block.begin(), block.end());
    REQUIRE(std::adjacent_find(block.begin() + 1, block.end()) == block.end());
  }
  for (const int speedup : kSpeedups) CHECK(up[speedup] == Approx(kBlocks / 2).margin(150));
}

TEST_CASE("there and back, a single treatment stands between its baselines") {
  Random random(6);
  CHECK(SpeedupPlan(30).draw_there_and_back(random) ==
        std::vector<int>{0, 0, 30, 30, 30, 30, 0, 0});
  CHECK(SpeedupPlan(0).draw_there_and_back(random) == std::vector<int>(kWindowsPerBlock, 0));
}
