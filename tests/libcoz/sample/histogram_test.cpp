#include "sample/histogram.h"

#include <catch2/catch.hpp>
#include <set>
#include <thread>
#include <vector>

#include "delay/selection.h"

using coz::Histogram;

namespace {

std::vector<std::uint32_t> seen_lines(const Histogram& histogram) {
  std::vector<std::uint32_t> lines;
  for (std::uint32_t i = 0; i < histogram.seen_count(); ++i) lines.push_back(histogram.seen(i));
  return lines;
}

}  // namespace

TEST_CASE("an empty histogram has seen nothing") {
  Histogram histogram;
  REQUIRE(histogram.reserve(10));
  CHECK(histogram.total() == 0);
  CHECK(histogram.in_scope() == 0);
  CHECK(histogram.of_line(3) == 0);
  CHECK(histogram.seen_count() == 0);
}

TEST_CASE("samples are counted by line, in scope and in total") {
  Histogram histogram;
  REQUIRE(histogram.reserve(10));
  histogram.count(3, 30);
  histogram.count(3, 30);
  histogram.count(9, 90);
  histogram.count_out_of_scope();
  CHECK(histogram.of_line(3) == 2);
  CHECK(histogram.of_line(9) == 1);
  CHECK(histogram.of_line(0) == 0);
  CHECK(histogram.in_scope() == 3);
  CHECK(histogram.total() == 4);
}

TEST_CASE("the lines seen are listed once, in the order of their first samples") {
  Histogram histogram;
  REQUIRE(histogram.reserve(10));
  for (const std::uint32_t line : {5U, 0U, 5U, 9U, 0U, 5U}) histogram.count(line, 1);
  CHECK(seen_lines(histogram) == std::vector<std::uint32_t>{5, 0, 9});
}

TEST_CASE("a line keeps the function that it was first seen in") {
  Histogram histogram;
  REQUIRE(histogram.reserve(10));
  histogram.count(3, 30);
  histogram.count(3, 31);
  CHECK(histogram.function_of(3) == 30);
}

TEST_CASE("a line out of range counts in the totals only") {
  Histogram histogram;
  REQUIRE(histogram.reserve(10));
  histogram.count(10, 1);
  histogram.count(coz::kNoLine, 1);
  CHECK(histogram.total() == 2);
  CHECK(histogram.in_scope() == 2);
  CHECK(histogram.seen_count() == 0);
  CHECK(histogram.of_line(10) == 0);
  CHECK(histogram.of_line(coz::kNoLine) == 0);
  CHECK(histogram.function_of(coz::kNoLine) == 0);
}

TEST_CASE("a histogram without lines, or without memory yet, still counts totals") {
  Histogram histogram;
  const bool reserved = GENERATE(true, false);
  if (reserved) REQUIRE(histogram.reserve(0));
  histogram.count(0, 1);
  histogram.count_out_of_scope();
  CHECK(histogram.total() == 2);
  CHECK(histogram.seen_count() == 0);
}

TEST_CASE("lines beyond the list are counted, though not listed") {
  Histogram histogram;
  const std::uint32_t lines = Histogram::kMostSeen + 100;
  REQUIRE(histogram.reserve(lines));
  for (std::uint32_t line = 0; line < lines; ++line) histogram.count(line, 1);
  CHECK(histogram.seen_count() == Histogram::kMostSeen);
  CHECK(histogram.seen(Histogram::kMostSeen - 1) == Histogram::kMostSeen - 1);
  CHECK(histogram.of_line(lines - 1) == 1);
  CHECK(histogram.total() == lines);
}

TEST_CASE("threads that sample the same lines lose no sample and list no line twice", "[threads]") {
  constexpr std::uint32_t kLines = 500;
  constexpr std::uint32_t kThreads = 4;
  constexpr std::uint32_t kRounds = 40;
  Histogram histogram;
  REQUIRE(histogram.reserve(kLines));
  std::vector<std::thread> threads;
  for (std::uint32_t id = 0; id < kThreads; ++id) {
    threads.emplace_back([&] {
      for (std::uint32_t round = 0; round < kRounds; ++round) {
        for (std::uint32_t line = 0; line < kLines; ++line) histogram.count(line, line + 7);
        histogram.count_out_of_scope();
      }
    });
  }
  // A reader meanwhile finds lines in range, or entries not made yet.
  int strange = 0;
  for (int i = 0; i < 200; ++i) {
    for (const std::uint32_t line : seen_lines(histogram)) {
      if (line == coz::kNoLine) continue;
      if (line >= kLines || histogram.of_line(line) == 0) ++strange;
    }
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(strange == 0);
  CHECK(histogram.in_scope() == kThreads * kRounds * kLines);
  CHECK(histogram.total() == kThreads * kRounds * (kLines + 1));
  std::uint32_t wrong = 0;
  for (std::uint32_t line = 0; line < kLines; ++line) {
    if (histogram.of_line(line) != kThreads * kRounds) ++wrong;
    if (histogram.function_of(line) != line + 7) ++wrong;
  }
  CHECK(wrong == 0);
  const auto seen = seen_lines(histogram);
  CHECK(seen.size() == kLines);
  CHECK(std::set<std::uint32_t>(seen.begin(), seen.end()).size() == kLines);
}
