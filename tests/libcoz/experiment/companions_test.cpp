#include "experiment/companions.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <vector>

#include "target/region_registry.h"

using coz::Companion;
using coz::Companions;
using coz::draw_companions;
using coz::EarlierSamples;
using coz::Histogram;
using coz::kMillisecond;
using coz::kSecond;
using coz::Random;
using coz::TargetShare;

namespace {

constexpr double kDose = 0.05;
constexpr std::uint32_t kFirst = coz::Targets::kFirstLine;

// Mean and variance of the speedups that each target drew.
struct Moments {
  double sum = 0;
  double squares = 0;
  int count = 0;

  void add(double value) {
    sum += value;
    squares += value * value;
    ++count;
  }
  double mean() const { return sum / count; }
  double variance() const { return squares / count - mean() * mean(); }
};

std::map<std::uint32_t, Moments> draw_often(const std::vector<TargetShare>& targets, Random& random,
                                            int windows) {
  std::map<std::uint32_t, Moments> moments;
  for (int i = 0; i < windows; ++i) {
    for (const Companion& each : draw_companions(targets, kDose, random)) {
      moments[each.target].add(each.speedup / 100.0);
    }
  }
  return moments;
}

// With `samples` in each of `targets`, from kFirst on.
void count(Histogram& histogram, std::uint32_t targets, int samples) {
  REQUIRE(histogram.reserve(kFirst + targets));
  for (std::uint32_t target = 0; target < targets; ++target) {
    for (int i = 0; i < samples; ++i) histogram.count(kFirst + target, 0);
  }
}

}  // namespace

TEST_CASE("the expected dose is the limit, if there are enough targets") {
  std::vector<TargetShare> targets;
  for (std::uint32_t i = 0; i < 100; ++i) targets.push_back({i, i < 50 ? 0.015 : 0.004});
  Random random(1);
  double dose = 0;
  for (const auto& [target, moments] : draw_often(targets, random, 5000)) {
    dose += moments.mean() * targets[target].share;
  }
  CHECK(dose == Approx(kDose).epsilon(0.03));
}

TEST_CASE("few small targets take part half of the time, at all speedups") {
  Random random(2);
  std::map<int, int> drawn;
  for (int i = 0; i < 8000; ++i) {
    for (const Companion& each :
         draw_companions(std::vector<TargetShare>{{1, 0.005}, {2, 0.002}}, kDose, random)) {
      if (each.target == 1) ++drawn[each.speedup];
    }
  }
  CHECK(drawn[0] == Approx(4000).epsilon(0.05));
  for (const int speedup : coz::kCompanionSpeedups) {
    CHECK(drawn[speedup] == Approx(1000).epsilon(0.12));
  }
}

TEST_CASE("smaller targets take part more often, and all have speedups that vary") {
  std::vector<TargetShare> targets;
  for (std::uint32_t i = 0; i < 200; ++i) targets.push_back({i, i % 2 == 0 ? 0.009 : 0.001});
  Random random(3);
  const auto moments = draw_often(targets, random, 4000);
  CHECK(moments.at(1).mean() > 2 * moments.at(0).mean());
  for (const auto& [target, each] : moments) CHECK(each.variance() > 0.01);
}

TEST_CASE("no target alone has more than half of the limit") {
  Random random(4);
  const std::vector<TargetShare> targets = {{1, 0.04}, {2, 0.09}, {3, 0.11}};
  int most_of_first = 0;
  int most_of_second = 0;
  for (int i = 0; i < 2000; ++i) {
    for (const Companion& each : draw_companions(targets, kDose, random)) {
      CHECK(each.target != 3);
      (each.target == 1 ? most_of_first : most_of_second) =
          std::max(each.target == 1 ? most_of_first : most_of_second, each.speedup);
    }
  }
  CHECK(most_of_first == 50);
  CHECK(most_of_second == 25);
}

TEST_CASE("what one target draws says nothing about what another draws") {
  std::vector<TargetShare> targets;
  for (std::uint32_t i = 0; i < 60; ++i) targets.push_back({i, 0.01});
  Random random(5);
  Moments first;
  Moments second;
  double products = 0;
  constexpr int kWindows = 20'000;
  for (int i = 0; i < kWindows; ++i) {
    const auto drawn = draw_companions(targets, kDose, random);
    first.add(drawn[0].speedup);
    second.add(drawn[1].speedup);
    products += static_cast<double>(drawn[0].speedup * drawn[1].speedup);
  }
  const double covariance = products / kWindows - first.mean() * second.mean();
  const double correlation = covariance / std::sqrt(first.variance() * second.variance());
  CHECK(std::abs(correlation) < 4 / std::sqrt(kWindows));
}

TEST_CASE("companions are the targets seen so far but the main one and regions") {
  Histogram histogram;
  count(histogram, 10, 20);
  for (int i = 0; i < 20; ++i) histogram.count(7, 0);          // a region
  for (int i = 0; i < 2; ++i) histogram.count(kFirst + 9, 0);  // one of them is larger
  const EarlierSamples earlier;
  Companions companions(kDose, histogram, earlier, kMillisecond);
  Random random(6);
  const auto selected = companions.draw(kFirst + 3, 10 * kSecond, random);
  CHECK(selected.size() == 9);
  for (const coz::SelectedTarget& each : selected) {
    CHECK(each.target >= kFirst);
    CHECK(each.target != kFirst + 3);
  }
  CHECK(companions.draw(coz::kNoTarget, 10 * kSecond, random).size() == 10);
  CHECK(companions.draw(7, 10 * kSecond, random).empty());  // a window on the region
  CHECK(companions.covers(kFirst + 3, 10 * kSecond));
  CHECK_FALSE(companions.covers(kFirst + 3, kSecond / 10));  // then it has a fifth of the time
  CHECK_FALSE(companions.covers(7, 10 * kSecond));
}

TEST_CASE("targets with hardly any samples are no companions yet") {
  Histogram histogram;
  count(histogram, 5, 2);
  const EarlierSamples earlier;
  Companions companions(kDose, histogram, earlier, kMillisecond);
  Random random(7);
  CHECK(companions.draw(coz::kNoTarget, kSecond, random).empty());
}

TEST_CASE("without a dose there are no companions") {
  Histogram histogram;
  count(histogram, 5, 20);
  const EarlierSamples earlier;
  Companions companions(0, histogram, earlier, kMillisecond);
  Random random(8);
  CHECK_FALSE(companions.is_on());
  CHECK(companions.draw(coz::kNoTarget, 10 * kSecond, random).empty());
  CHECK_FALSE(companions.covers(kFirst, 10 * kSecond));
}

TEST_CASE("results have those that were sped up, by number, with their samples since the opening") {
  Histogram histogram;
  count(histogram, 30, 10);
  const EarlierSamples earlier;
  Companions companions(kDose, histogram, earlier, kMillisecond);
  Random random(9);
  std::map<std::uint32_t, std::uint32_t> names;  // by number
  for (int window = 0; window < 20; ++window) {
    std::map<std::uint32_t, coz::Nanoseconds> delays;
    for (const auto& each : companions.draw(coz::kNoTarget, 100 * kSecond, random)) {
      if (each.delay > 0) delays[each.target] = each.delay;
    }
    companions.open();
    for (const auto& [target, delay] : delays) histogram.count(target, 0);
    const auto results = companions.results([&](std::uint32_t number, std::uint32_t target) {
      CHECK(number == names.size());
      names[number] = target;
    });
    REQUIRE(results.size() == delays.size());
    for (const coz::CompanionResult& each : results) {
      CHECK(each.samples == 1);
      CHECK(each.speedup * kMillisecond / 100 == delays.at(names.at(each.number)));
    }
  }
  CHECK(names.size() == 30);
}

TEST_CASE("what earlier runs sampled counts like samples of this run") {
  Histogram histogram;
  count(histogram, 3, 2);  // too few to be companions
  // Shares of 1, 20 and 1 %.
  EarlierSamples earlier({10 * kSecond, 40, {}});
  earlier.add(kFirst, 100);
  earlier.add(kFirst + 1, 2000);
  earlier.add(kFirst + 2, 100);
  Companions companions(kDose, histogram, earlier, kMillisecond);
  CHECK(companions.covers(kFirst, kSecond / 100));
  CHECK_FALSE(companions.covers(kFirst + 1, kSecond / 100));
  Random random(8);
  const auto selected = companions.draw(coz::kNoTarget, kSecond / 100, random);
  REQUIRE(selected.size() == 2);
  CHECK(selected[0].target == kFirst);
  CHECK(selected[1].target == kFirst + 2);
}

TEST_CASE("without earlier runs, targets with few samples are no companions") {
  Histogram histogram;
  count(histogram, 3, 2);
  const EarlierSamples earlier;
  Companions companions(kDose, histogram, earlier, kMillisecond);
  Random random(9);
  CHECK(companions.draw(coz::kNoTarget, kSecond / 100, random).empty());
}
