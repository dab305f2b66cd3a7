#include "target/call_paths.h"

#include <catch2/catch.hpp>
#include <set>
#include <thread>
#include <vector>

using coz::CallPaths;
using coz::SourceFrame;

TEST_CASE("a call path is a line with its caller") {
  CallPaths paths;
  REQUIRE(paths.reserve());
  const SourceFrame line{10, 1};
  const SourceFrame one{20, 2};
  const SourceFrame other{30, 3};
  const auto by_one = paths.count(line, &one);
  const auto by_other = paths.count(line, &other);
  const auto by_none = paths.count(line, nullptr);
  REQUIRE((by_one && by_other && by_none));
  CHECK(std::set<std::uint32_t>{*by_one, *by_other, *by_none}.size() == 3);
  CHECK(paths.count(line, &one) == by_one);

  const auto found = paths.get(*by_one);
  REQUIRE(found);
  CHECK(found->frame.line == 10);
  CHECK(found->frame.function == 1);
  REQUIRE(found->caller);
  CHECK(found->caller->line == 20);
  CHECK(found->caller->function == 2);
  CHECK(found->samples == 2);
  REQUIRE(paths.get(*by_none));
  CHECK_FALSE(paths.get(*by_none)->caller);
}

TEST_CASE("line 0 and caller 0 are lines like others") {
  CallPaths paths;
  REQUIRE(paths.reserve());
  const SourceFrame zero{0, coz::kNoFunction};
  const auto with = paths.count(zero, &zero);
  const auto without = paths.count(zero, nullptr);
  REQUIRE((with && without));
  CHECK(*with != *without);
  CHECK(paths.get(*with)->caller->line == 0);
  CHECK(paths.get(*with)->caller->function == coz::kNoFunction);
}

TEST_CASE("a line in another function is another path") {
  CallPaths paths;
  REQUIRE(paths.reserve());
  const SourceFrame caller{20, 2};
  const auto one = paths.count({10, 1}, &caller);
  const auto other = paths.count({10, 5}, &caller);
  REQUIRE((one && other));
  CHECK(*one != *other);
  CHECK(paths.get(*other)->frame.function == 5);
  CHECK(paths.count({10, 1}, &caller) == one);
}

TEST_CASE("a number without a path finds nothing") {
  CallPaths paths;
  CHECK_FALSE(paths.get(3));
  CHECK_FALSE(paths.count({1, 1}, nullptr));  // no memory yet
  REQUIRE(paths.reserve());
  CHECK_FALSE(paths.get(3));
  CHECK_FALSE(paths.get(CallPaths::kMaxPaths));
}

TEST_CASE("a full table of call paths counts only the paths in it") {
  CallPaths paths;
  REQUIRE(paths.reserve());
  std::uint32_t refused = 0;
  for (std::uint32_t line = 0; line < CallPaths::kMaxPaths + 1000; ++line) {
    if (!paths.count({line, 0}, nullptr)) ++refused;
  }
  CHECK(refused >= 1000);
  CHECK(paths.count({0, 0}, nullptr));
}

TEST_CASE("call paths are counted by several threads", "[threads]") {
  constexpr std::uint32_t kLines = 300;
  constexpr int kThreads = 4;
  CallPaths paths;
  REQUIRE(paths.reserve());
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&] {
      for (std::uint32_t line = 0; line < kLines; ++line) {
        const SourceFrame caller{line + 1, line};
        paths.count({line, line}, &caller);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  // A path may have two numbers, if two threads made it at once; together they have all samples.
  std::vector<std::uint64_t> samples(kLines);
  int wrong = 0;
  for (std::uint32_t id = 0; id < CallPaths::kMaxPaths; ++id) {
    const auto path = paths.get(id);
    if (!path) continue;
    samples.at(path->frame.line) += path->samples;
    if (path->caller->line != path->frame.line + 1) ++wrong;
    if (path->frame.function != path->frame.line) ++wrong;
  }
  CHECK(samples == std::vector<std::uint64_t>(kLines, kThreads));
  CHECK(wrong == 0);
}
