#include "experiment/target_planner.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "target/selection.h"

using coz::kNoTarget;
using coz::PlannedTarget;
using coz::PointKind;
using coz::PointResult;
using coz::Random;
using coz::SpedUp;
using coz::TargetPlanner;

namespace {

PointResult visited(const std::string& name, double period,
                    PointKind kind = PointKind::kThroughput) {
  PointResult point;
  point.name = name;
  point.kind = kind;
  point.visits = point.arrivals = 100;
  point.elapsed = static_cast<coz::Nanoseconds>(100 * period);
  return point;
}

// A program in which targets save so much for each speedup, at each of its points.
struct Program {
  std::vector<PlannedTarget> targets;
  std::vector<std::map<std::uint32_t, double>> savings;  // by point
  std::vector<PointResult> others = {};
  TargetPlanner planner = {};
  Random random{1};
  std::uint64_t block = 0;
  double noise = 0.05;  // width of its distribution

  // How many blocks each target had, of `blocks`.
  std::map<std::uint32_t, int> measure(int blocks, bool combines = true) {
    std::map<std::uint32_t, int> had;
    for (int i = 0; i < blocks; ++i) {
      const auto planned = planner.next(targets, combines, random);
      REQUIRE(planned);
      ++had[planned->target];
      ++block;
      for (const int speedup : {0, 50, 100, 0, 50, 100}) window(planned->target, speedup / 100.0);
    }
    return had;
  }

  void window(std::uint32_t target, double speedup) {
    std::vector<PointResult> points = others;
    for (std::size_t i = 0; i < savings.size(); ++i) {
      double period = 2e6 * (1 + noise * (random.fraction() - 0.5));
      if (savings[i].contains(target)) period *= 1 - savings[i].at(target) * speedup;
      points.push_back(visited(std::to_string(i), period));
    }
    double share = 0;
    for (const PlannedTarget& each : targets) {
      if (each.target == target) share = each.share;
    }
    std::vector<SpedUp> sped_up;
    if (target != kNoTarget) sped_up.push_back({target, share, speedup});
    planner.observe(points, block, sped_up);
  }
};

PlannedTarget large(std::uint32_t target, double share) {
  return {target, static_cast<std::uint64_t>(share * 10'000), share, false};
}

PlannedTarget small(std::uint32_t target) { return {target, 50, 0.005, true}; }

}  // namespace

TEST_CASE("without samples there is no block") {
  TargetPlanner planner;
  Random random(1);
  CHECK_FALSE(planner.next({}, true, random));
}

TEST_CASE("without companions targets are drawn by samples, at all speedups") {
  Program program{{large(1, 0.6), large(2, 0.2), small(3)}, {{{1, 0.0}, {2, 0.2}}}};
  const auto had = program.measure(200, false);
  CHECK(had.at(1) == Approx(200 * 0.6 / 0.815).epsilon(0.1));
  CHECK(had.contains(3));
  CHECK_FALSE(had.contains(kNoTarget));
  CHECK(program.planner.next(program.targets, false, program.random)->speedups.empty());
}

TEST_CASE("a program of targets that companions cover needs no main target") {
  Program program{{small(1), small(2), small(3)}, {{}}};
  CHECK_FALSE(program.measure(3).contains(kNoTarget));  // but at first
  CHECK(program.measure(50).at(kNoTarget) == 50);
}

TEST_CASE("each large target is soon looked at, whatever its rank") {
  Program program{{large(1, 0.3), large(2, 0.25), large(3, 0.2), large(4, 0.1), small(5)},
                  {{{1, 0.3}, {2, 0.0}, {3, 0.2}, {4, 0.1}}}};
  const auto had = program.measure(12);
  for (const std::uint32_t target : {1U, 2U, 3U, 4U}) CHECK(had.contains(target));
  CHECK(had.count(5) == 0);
}

TEST_CASE("what is found not to matter gets hardly any blocks, what is open gets them") {
  Program program{{large(1, 0.4), large(2, 0.2), large(3, 0.19)},
                  {{{1, 0.0}, {2, 0.2}, {3, 0.19}}}};
  program.measure(40);
  const auto had = program.measure(80);
  const int useless = had.contains(1) ? had.at(1) : 0;
  CHECK(useless <= 8);  // by samples it would be 40
  CHECK(had.at(2) + had.at(3) > 30);
}

TEST_CASE("a noisy large target leaves blocks for a small one that may matter") {
  int looked_at = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Program program{{large(1, 0.8), large(2, 0.06)}, {{{1, 0.4}}}};
    program.random = Random{seed};
    program.noise = 0.4;
    looked_at += program.measure(8)[2] > 0 ? 1 : 0;
  }
  CHECK(looked_at >= 19);
}

TEST_CASE("blocks for precision try few speedups, a target's first one fewest") {
  Program program{{large(1, 0.4), large(2, 0.3)}, {{{1, 0.4}, {2, 0.0}}}};
  program.measure(1);
  std::map<std::uint32_t, std::vector<std::size_t>> sizes;
  for (int i = 0; i < 4; ++i) {
    const auto planned = program.planner.next(program.targets, true, program.random);
    REQUIRE(planned);
    sizes[planned->target].push_back(planned->speedups.size());
  }
  for (const auto& [target, each] : sizes) {
    CHECK(each.front() == 2);
    for (std::size_t i = 1; i < each.size(); ++i) CHECK(each[i] == 4);
  }
}

TEST_CASE("short runs of a series draw by samples, long ones plan in the end") {
  Program program{{large(1, 0.5), large(2, 0.25), small(3)}, {{{1, 0.0}, {2, 0.25}}}};
  program.planner.continue_series(800);
  const auto planned = program.planner.next(program.targets, true, program.random);
  REQUIRE(planned);
  CHECK(planned->speedups.empty());
  int first = 0;
  for (int run = 0; run < 200; ++run) {
    TargetPlanner planner;
    planner.continue_series(8 * run + 8);
    first += planner.next(program.targets, true, program.random)->target == 1;
  }
  CHECK(first == Approx(200 * 0.5 / 0.76).epsilon(0.2));
  program.measure(40);
  CHECK(program.measure(40)[1] <= 4);
}

TEST_CASE("a target that matters at another point is not left out") {
  Program program{{large(1, 0.4), large(2, 0.4)}, {{{1, 0.4}, {2, 0.0}}, {{1, 0.0}, {2, 0.4}}}};
  program.measure(60);
  const auto had = program.measure(40);
  CHECK(had.at(1) >= 10);
  CHECK(had.at(2) >= 10);
}

TEST_CASE("where there is a latency point, all large targets go on getting blocks") {
  Program program{{large(1, 0.5), large(2, 0.3)}, {{{1, 0.0}, {2, 0.3}}}};
  SECTION("with one") {
    program.others = {visited("request", 0, PointKind::kBegin)};
    program.measure(60);
    CHECK(program.measure(40).at(1) >= 10);
  }
  SECTION("without one") {
    program.measure(60);
    CHECK(program.measure(40)[1] == 0);
  }
}
