#include "sampling/histogram.h"

#include <catch2/catch.hpp>
#include <set>
#include <thread>
#include <vector>

#include "target/selection.h"

using coz::Histogram;

namespace {

std::vector<std::uint32_t> seen_lines(const Histogram& histogram) {
  std::vector<std::uint32_t> targets;
  for (std::uint32_t i = 0; i < histogram.seen_count(); ++i) targets.push_back(histogram.seen(i));
  return targets;
}

void take(Histogram& histogram, std::uint32_t target, std::uint32_t function) {
  histogram.count_sample(true);
  histogram.count(target, function);
}

}  // namespace

TEST_CASE("an empty histogram has seen nothing") {
  Histogram histogram;
  REQUIRE(histogram.reserve(10));
  CHECK(histogram.total() == 0);
  CHECK(histogram.in_scope() == 0);
  CHECK(histogram.of(3) == 0);
  CHECK(histogram.seen_count() == 0);
}

TEST_CASE("samples are counted by target, in scope and in total") {
  Histogram histogram;
  REQUIRE(histogram.reserve(10));
  take(histogram, 3, 30);
  take(histogram, 3, 30);
  take(histogram, 9, 90);
  histogram.count_sample(false);
  CHECK(histogram.of(3) == 2);
  CHECK(histogram.of(9) == 1);
  CHECK(histogram.of(0) == 0);
  CHECK(histogram.in_scope() == 3);
  CHECK(histogram.total() == 4);
}

TEST_CASE("samples in waits that are spun through count in the total, and by themselves") {
  Histogram histogram;
  REQUIRE(histogram.reserve(10));
  take(histogram, 3, 1);
  histogram.count_spun();
  CHECK(histogram.total() == 2);
  CHECK(histogram.in_scope() == 1);
  CHECK(histogram.spun() == 1);
  CHECK(histogram.own_spun() == 1);
}

TEST_CASE("the targets seen are listed once, in the order of their first samples") {
  Histogram histogram;
  REQUIRE(histogram.reserve(10));
  for (const std::uint32_t target : {5U, 0U, 5U, 9U, 0U, 5U}) take(histogram, target, 1);
  CHECK(seen_lines(histogram) == std::vector<std::uint32_t>{5, 0, 9});
}

TEST_CASE("a target keeps the function that it was first seen in") {
  Histogram histogram;
  REQUIRE(histogram.reserve(10));
  take(histogram, 3, 30);
  take(histogram, 3, 31);
  CHECK(histogram.function_of(3) == 30);
}

TEST_CASE("a target out of range counts in the totals only") {
  Histogram histogram;
  REQUIRE(histogram.reserve(10));
  take(histogram, 10, 1);
  take(histogram, coz::kNoTarget, 1);
  CHECK(histogram.total() == 2);
  CHECK(histogram.in_scope() == 2);
  CHECK(histogram.seen_count() == 0);
  CHECK(histogram.of(10) == 0);
  CHECK(histogram.of(coz::kNoTarget) == 0);
  CHECK(histogram.function_of(coz::kNoTarget) == 0);
}

TEST_CASE("a histogram without targets, or without memory yet, still counts totals") {
  Histogram histogram;
  const bool reserved = GENERATE(true, false);
  if (reserved) REQUIRE(histogram.reserve(0));
  take(histogram, 0, 1);
  histogram.count_sample(false);
  CHECK(histogram.total() == 2);
  CHECK(histogram.seen_count() == 0);
}

TEST_CASE("targets beyond the list are counted, though not listed") {
  Histogram histogram;
  const std::uint32_t targets = Histogram::kMaxSeen + 100;
  REQUIRE(histogram.reserve(targets));
  for (std::uint32_t target = 0; target < targets; ++target) take(histogram, target, 1);
  CHECK(histogram.seen_count() == Histogram::kMaxSeen);
  CHECK(histogram.seen(Histogram::kMaxSeen - 1) == Histogram::kMaxSeen - 1);
  CHECK(histogram.of(targets - 1) == 1);
  CHECK(histogram.total() == targets);
}

TEST_CASE("threads that sample the same targets lose no sample and list no target twice",
          "[threads]") {
  constexpr std::uint32_t kLines = 500;
  constexpr std::uint32_t kThreads = 4;
  constexpr std::uint32_t kRounds = 40;
  Histogram histogram;
  REQUIRE(histogram.reserve(kLines));
  std::vector<std::thread> threads;
  for (std::uint32_t id = 0; id < kThreads; ++id) {
    threads.emplace_back([&] {
      for (std::uint32_t round = 0; round < kRounds; ++round) {
        for (std::uint32_t target = 0; target < kLines; ++target)
          take(histogram, target, target + 7);
        histogram.count_sample(false);
      }
    });
  }
  // A reader meanwhile finds targets in range, or entries not made yet.
  int invalid = 0;
  for (int i = 0; i < 200; ++i) {
    for (const std::uint32_t target : seen_lines(histogram)) {
      if (target == coz::kNoTarget) continue;
      if (target >= kLines || histogram.of(target) == 0) ++invalid;
    }
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(invalid == 0);
  CHECK(histogram.in_scope() == kThreads * kRounds * kLines);
  CHECK(histogram.total() == kThreads * kRounds * (kLines + 1));
  std::uint32_t wrong = 0;
  for (std::uint32_t target = 0; target < kLines; ++target) {
    if (histogram.of(target) != kThreads * kRounds) ++wrong;
    if (histogram.function_of(target) != target + 7) ++wrong;
  }
  CHECK(wrong == 0);
  const auto seen = seen_lines(histogram);
  CHECK(seen.size() == kLines);
  CHECK(std::set<std::uint32_t>(seen.begin(), seen.end()).size() == kLines);
}

TEST_CASE("there can be more targets later, as many as there is room for") {
  Histogram histogram;
  REQUIRE(histogram.reserve(10, 1U << 20));
  take(histogram, 9, 1);
  take(histogram, 100'000, 2);
  CHECK(histogram.of(100'000) == 0);
  CHECK(histogram.seen_count() == 1);
  REQUIRE(histogram.grow(200'000));
  CHECK(histogram.of(100'000) == 0);
  take(histogram, 199'999, 2);
  take(histogram, 200'000, 2);
  CHECK(histogram.of(199'999) == 1);
  CHECK(histogram.of(9) == 1);
  CHECK(seen_lines(histogram) == std::vector<std::uint32_t>{9, 199'999});
  CHECK(histogram.grow(100));
  CHECK(histogram.of(199'999) == 1);
  CHECK_FALSE(histogram.grow(2U << 20));
  CHECK(histogram.of(199'999) == 1);
}
