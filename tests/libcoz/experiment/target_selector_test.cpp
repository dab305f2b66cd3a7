#include "experiment/target_selector.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>
#include <vector>

using coz::Random;
using coz::TargetSamples;
using coz::TargetSelector;

namespace {

constexpr int kDraws = 100000;

std::map<std::uint32_t, double> shares(const std::vector<TargetSamples>& targets,
                                       std::uint64_t seed) {
  Random random(seed);
  TargetSelector selector;
  std::map<std::uint32_t, double> drawn;
  for (int i = 0; i < kDraws; ++i) {
    const auto target = selector.draw(targets, random);
    REQUIRE(target);
    drawn[*target] += 1.0 / kDraws;
  }
  return drawn;
}

// Five standard deviations of a share drawn kDraws times, at the most.
constexpr double kMargin = 0.008;

}  // namespace

TEST_CASE("no target is drawn where none has samples") {
  Random random(1);
  TargetSelector selector;
  CHECK_FALSE(selector.draw({}, random));
  CHECK_FALSE(selector.draw(std::vector<TargetSamples>{{1, 0}, {2, 0}}, random));
}

TEST_CASE("the only target with samples is always drawn") {
  const auto drawn = shares({{1, 0}, {2, 5}, {3, 0}}, 1);
  CHECK(drawn.size() == 1);
  CHECK(drawn.contains(2));
}

TEST_CASE("targets are drawn in proportion to their samples, in whatever order they are given") {
  const std::uint64_t seed = GENERATE(1, 2);
  auto drawn = shares({{10, 500}, {20, 300}, {30, 200}}, seed);
  CHECK(drawn[10] == Approx(0.5).margin(kMargin));
  CHECK(drawn[20] == Approx(0.3).margin(kMargin));
  CHECK(drawn[30] == Approx(0.2).margin(kMargin));
  drawn = shares({{30, 200}, {10, 500}, {20, 300}}, seed);
  CHECK(drawn[10] == Approx(0.5).margin(kMargin));
  CHECK(drawn[30] == Approx(0.2).margin(kMargin));
}

TEST_CASE("a target that is rare, but not mere noise, is drawn as often as the floor says") {
  auto drawn = shares({{1, 9949}, {2, 50}, {3, 1}}, 3);
  const double all = 0.9949 + coz::kFloorShare;
  CHECK(drawn[2] == Approx(coz::kFloorShare / all).margin(0.002));  // 0.5 % of the samples
  CHECK(drawn[3] < 0.0005);                                         // noise has no floor
}

TEST_CASE("the floor begins at its bound, and below it chances fall with the square") {
  auto drawn = shares({{1, 9910000}, {2, 40400}, {3, 39000}, {4, 11000}}, 4);
  CHECK(drawn[2] == Approx(0.01).margin(0.002));
  CHECK(drawn[3] == Approx(0.0038).margin(0.001));
  CHECK(drawn[4] == Approx(0.0003).margin(0.0003));
}

TEST_CASE("a single sample proves nothing: in the beginning the targets that recur are drawn") {
  std::vector<TargetSamples> targets = {{1, 12}, {2, 9}};
  for (std::uint32_t single = 10; single < 40; ++single) targets.push_back({single, 1});
  auto drawn = shares(targets, 6);
  CHECK(drawn[1] + drawn[2] > 0.7);  // 0.41 of the samples
}

TEST_CASE("many small targets do not use up the experiments of the few large ones") {
  std::vector<TargetSamples> targets = {{1, 4000}, {2, 3000}};
  for (std::uint32_t small = 10; small < 310; ++small) targets.push_back({small, 10});
  auto drawn = shares(targets, 5);
  CHECK(drawn[1] + drawn[2] > 0.85);  // 0.7 of the samples
}

TEST_CASE("equal targets are drawn about equally often from the beginning") {
  const std::vector<TargetSamples> targets = {{1, 1000}, {2, 1000}};
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    TargetSelector selector;
    int first = 0;
    for (int i = 0; i < 20; ++i) first += *selector.draw(targets, random) == 1;
    REQUIRE(std::abs(first - 10) <= 2);
  }
}

TEST_CASE("the order of draws is not fixed") {
  const std::vector<TargetSamples> targets = {{1, 1000}, {2, 1000}};
  Random random(5);
  TargetSelector selector;
  int same_as_before = 0;
  std::uint32_t before = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::uint32_t target = *selector.draw(targets, random);
    same_as_before += target == before;
    before = target;
  }
  CHECK(same_as_before > 150);
  CHECK(same_as_before < 500);
}

TEST_CASE("a target that appears late does not keep the others waiting") {
  Random random(6);
  TargetSelector selector;
  for (int i = 0; i < 1000; ++i) selector.draw(std::vector<TargetSamples>{{1, 1000}}, random);
  std::map<std::uint32_t, int> drawn;
  for (int i = 0; i < 100; ++i) {
    ++drawn[*selector.draw(std::vector<TargetSamples>{{1, 1000}, {2, 800}, {3, 800}}, random)];
  }
  CHECK(drawn[2] > 30);
  CHECK(drawn[3] > 30);
}

TEST_CASE("the same seed draws the same targets") {
  const std::vector<TargetSamples> targets = {{1, 10}, {2, 20}, {3, 30}};
  Random a(7);
  Random b(7);
  Random c(8);
  TargetSelector from_a;
  TargetSelector from_b;
  TargetSelector from_c;
  int same_as_c = 0;
  for (int i = 0; i < 200; ++i) {
    const auto target = from_a.draw(targets, a);
    REQUIRE(target == from_b.draw(targets, b));
    same_as_c += target == from_c.draw(targets, c);
  }
  CHECK(same_as_c < 150);
}
