#include "delay/charge_mix.h"

#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <optional>

using coz::ChargeMix;
using coz::kMillisecond;
using coz::Nanoseconds;

namespace {

constexpr Nanoseconds kPeriod = kMillisecond;

}  // namespace

TEST_CASE("one target costs its delay, whatever decays") {
  ChargeMix mix{};
  Nanoseconds line_time = 0;
  for (int i = 0; i < 1000; ++i) {
    mix.add({5, 123'457}, line_time, kPeriod);
    line_time = (line_time + kPeriod) * (i % 10) / 10;
    CHECK(mix.delay() == 123'457);
  }
}

TEST_CASE("two targets cost the mean of their delays, by the time that is left of each") {
  ChargeMix mix{};
  mix.add({5, kPeriod}, 0, kPeriod);
  // Half of the first period has been charged since.
  mix.add({6, 0}, kPeriod / 2, kPeriod);
  CHECK(mix.delay() == Approx(kPeriod / 3).epsilon(1e-4));
}

TEST_CASE("what an empty bucket held before is not charged") {
  ChargeMix mix{};
  mix.add({5, kPeriod}, 0, kPeriod);
  mix.add({6, 0}, 0, kPeriod);
  CHECK(mix.delay() == 0);
}

TEST_CASE("a new selection charges line time from before by its own delays") {
  ChargeMix mix{};
  mix.add({5, kPeriod}, 0, kPeriod);
  mix.add({6, 0}, kPeriod, kPeriod);
  CHECK(mix.reselect(2 * kPeriod, [](std::uint32_t target) {
    return std::optional<Nanoseconds>(target == 5 ? 0 : kPeriod / 2);
  }) == 2 * kPeriod);
  CHECK(mix.delay() == kPeriod / 4);
  SECTION("targets that are not selected leave it") {
    CHECK(mix.reselect(2 * kPeriod, [](std::uint32_t target) {
      return target == 6 ? std::optional<Nanoseconds>(kPeriod) : std::nullopt;
    }) == kPeriod);
    CHECK(mix.delay() == kPeriod);
  }
  SECTION("nothing is left") {
    const auto none = [](std::uint32_t) { return std::optional<Nanoseconds>(); };
    CHECK(mix.reselect(2 * kPeriod, none) == 0);
    CHECK(mix.delay() == 0);
  }
}

TEST_CASE("of more targets than there is room for each is charged its own delay, on average") {
  // Forty targets in turn, one of them with a delay: it should be charged a fortieth of all.
  constexpr std::uint32_t kTargets = 40;
  ChargeMix mix{};
  Nanoseconds line_time = 0;
  double charged = 0;
  double all = 0;
  constexpr int kSamples = 200'000;
  for (int i = 0; i < kSamples; ++i) {
    const std::uint32_t target = static_cast<std::uint32_t>(i) % kTargets;
    mix.add({target, target == 7 ? kPeriod : 0}, line_time, kPeriod);
    line_time += kPeriod;
    const Nanoseconds part = line_time / 12;
    charged += static_cast<double>(part) * static_cast<double>(mix.delay()) / kPeriod;
    all += static_cast<double>(part);
    line_time -= part;
  }
  CHECK(charged / all == Approx(1.0 / kTargets).epsilon(0.03));
}
