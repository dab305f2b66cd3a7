#include "experiment/effect_estimates.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "experiment/random.h"

using coz::EffectEstimates;
using coz::Random;
using coz::SpedUp;

namespace {

// Of a normal distribution, nearly.
double normal(Random& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += random.fraction();
  return sum;
}

// Windows of a program in which target t saves savings[t] for each speedup; main targets in turn.
EffectEstimates measured(const std::vector<double>& savings, double share, int windows,
                         double noise, Random& random) {
  EffectEstimates estimates;
  for (std::uint32_t target = 0; target < savings.size(); ++target) estimates.follow(target);
  for (int i = 0; i < windows; ++i) {
    const auto target =
        static_cast<std::uint32_t>(static_cast<std::size_t>(i / 8) % savings.size());
    const double speedup = i % 4 / 3.0;
    const double period = 2e6 * (1 - savings[target] * speedup) * std::exp(noise * normal(random));
    estimates.observe(period, i % 8 == 0, std::vector<SpedUp>{{target, share, speedup}});
  }
  return estimates;
}

}  // namespace

TEST_CASE("before any window a target saves a part of its share, perhaps all or nothing") {
  const auto effect = EffectEstimates().of(1, 0.2);
  CHECK(effect.mean == Approx(0.05));
  CHECK(effect.error > 0.05);
  CHECK(effect.after_block < effect.error);
}

TEST_CASE("effects are found, within what their errors say") {
  Random random(1);
  const std::vector<double> savings = {0.2, 0.0, 0.1, -0.05};
  int within = 0;
  constexpr int kRounds = 50;
  for (int round = 0; round < kRounds; ++round) {
    const auto estimates = measured(savings, 0.2, 400, 0.03, random);
    for (std::uint32_t target = 0; target < savings.size(); ++target) {
      const auto effect = estimates.of(target, 0.2);
      CHECK(effect.error < 0.01);
      within += std::abs(effect.mean - savings[target] / 2) < 1.96 * effect.error;
    }
  }
  CHECK(within > 0.9 * kRounds * static_cast<double>(savings.size()));
}

TEST_CASE("noise is learnt: where windows scatter more, less is known") {
  Random random(2);
  const auto quiet = measured({0.1, 0.1}, 0.2, 200, 0.01, random);
  const auto noisy = measured({0.1, 0.1}, 0.2, 200, 0.1, random);
  CHECK(noisy.of(1, 0.2).error > 2 * quiet.of(1, 0.2).error);
}

TEST_CASE("a window that is far off changes little") {
  Random random(3);
  auto estimates = measured({0.1, 0.1}, 0.2, 200, 0.03, random);
  const double before = estimates.of(1, 0.2).mean;
  estimates.observe(2e7, false, std::vector<SpedUp>{{1, 0.2, 1.0}});
  CHECK(estimates.of(1, 0.2).mean == Approx(before).margin(0.03));
}

TEST_CASE("two targets are compared by what is known of their difference") {
  Random random(4);
  const auto estimates = measured({0.2, 0.1}, 0.2, 400, 0.03, random);
  const double error = estimates.error_between(0, 0.2, 1, 0.2);
  CHECK(estimates.of(0, 0.2).mean - estimates.of(1, 0.2).mean > 1.96 * error);
  CHECK(estimates.error_between(0, 0.2, 0, 0.2) == Approx(0).margin(1e-6));
}

TEST_CASE("no more targets are followed than there is room for, and others are average") {
  EffectEstimates estimates;
  for (std::uint32_t target = 0; target < EffectEstimates::kMaxFollowed; ++target) {
    CHECK(estimates.follow(target));
  }
  CHECK(estimates.follow(0));
  CHECK_FALSE(estimates.follow(1000));
  for (int i = 0; i < 200; ++i) {
    const double speedup = i % 2;
    estimates.observe(2e6 * (1 - 0.1 * speedup), i % 8 == 0,
                      std::vector<SpedUp>{{1000, 0.1, speedup}});
  }
  CHECK(estimates.of(2000, 0.1).mean == Approx(0.05).margin(0.005));
}
