#include "progress/operations.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "progress/duration_histogram.h"

using coz::duration_bucket;
using coz::kMicrosecond;
using coz::kMillisecond;
using coz::kSecond;
using coz::Nanoseconds;
using coz::Operations;

namespace {

std::unique_ptr<Operations> make_operations() { return std::make_unique<Operations>(); }

// All operations with a duration.
std::uint64_t ended(const Operations& operations, std::uint32_t name) {
  const auto counts = operations.durations(name).get();
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

std::uint32_t count_of(const Operations& operations, std::uint32_t name, Nanoseconds duration) {
  return operations.durations(name).get()[duration_bucket(duration)];
}

}  // namespace

TEST_CASE("buckets of duration begin where the profile format says") {
  CHECK(duration_bucket(-5) == 0);
  CHECK(duration_bucket(1023) == 0);
  CHECK(duration_bucket(1024) == 1);
  CHECK(duration_bucket(1024 + 15) == 1);
  CHECK(duration_bucket(1024 + 16) == 2);
  CHECK(duration_bucket(2047) == 64);
  CHECK(duration_bucket(2048) == 65);
  CHECK(duration_bucket(2048 + 32) == 66);
  CHECK(duration_bucket(1000 * kSecond) == coz::kDurationBuckets - 1);
}

TEST_CASE("a bucket of duration spans at most 1/64 of what is in it, and none is left out") {
  std::uint32_t last = duration_bucket(1023);
  for (Nanoseconds time = 1024; time < 270 * kSecond; time += time / 200) {
    const std::uint32_t bucket = duration_bucket(time);
    CHECK(bucket - last <= 1);
    CHECK(duration_bucket(time + time / 64 + 1) > bucket);
    last = bucket;
  }
}

TEST_CASE("operations that overlap have their own durations") {
  const auto operations = make_operations();
  const auto name = *operations->find_or_add("request");
  operations->begin(name, 1, 10 * kMillisecond);
  operations->begin(name, 2, 11 * kMillisecond);
  operations->begin(name, 3, 12 * kMillisecond);
  operations->end(name, 2, 18 * kMillisecond);
  operations->end(name, 1, 19 * kMillisecond);
  CHECK(count_of(*operations, name, 7 * kMillisecond) == 1);
  CHECK(count_of(*operations, name, 9 * kMillisecond) == 1);
  CHECK(ended(*operations, name) == 2);
  CHECK(operations->lost(name) == 0);
}

TEST_CASE("operations of two names may have the same identity") {
  const auto operations = make_operations();
  const auto read = *operations->find_or_add("read"), write = *operations->find_or_add("write");
  REQUIRE(read != write);
  CHECK(operations->find("write") == write);
  operations->begin(read, 7, 0);
  operations->begin(write, 7, kMillisecond);
  operations->end(read, 7, 5 * kMillisecond);
  operations->end(write, 7, 9 * kMillisecond);
  CHECK(count_of(*operations, read, 5 * kMillisecond) == 1);
  CHECK(count_of(*operations, write, 8 * kMillisecond) == 1);
}

TEST_CASE("an operation that cannot be followed is lost") {
  const auto operations = make_operations();
  const auto name = *operations->find_or_add("request");
  SECTION("its end has no begin") { operations->end(name, 1, 5); }
  SECTION("its identity begins again: the later begin counts") {
    operations->begin(name, 1, 0);
    operations->begin(name, 1, 3 * kMillisecond);
    operations->end(name, 1, 5 * kMillisecond);
    CHECK(count_of(*operations, name, 2 * kMillisecond) == 1);
    CHECK(operations->lost(name) == 1);
    operations->end(name, 1, 6 * kMillisecond);  // the other's end
  }
  CHECK(operations->lost(name) == 1);
}

TEST_CASE("a full table loses operations, and follows others when some have ended") {
  const auto operations = make_operations();
  const auto name = *operations->find_or_add("request");
  constexpr std::uint64_t kMany = 4 * Operations::kPlaces;
  for (std::uint64_t i = 0; i < kMany; ++i) operations->begin(name, i, 0);
  const std::uint64_t lost = operations->lost(name);
  CHECK(lost >= kMany - Operations::kPlaces);
  CHECK(lost < kMany - Operations::kPlaces / 2);
  for (std::uint64_t i = 0; i < kMany; ++i) operations->end(name, i, kMillisecond);
  CHECK(ended(*operations, name) == kMany - lost);
  CHECK(operations->lost(name) == lost);
  operations->begin(name, 0, 0);
  operations->end(name, 0, kMillisecond);
  CHECK(operations->lost(name) == lost);
}

TEST_CASE("an eighth of the table is used without a loss, by counters and by addresses") {
  const auto operations = make_operations();
  const auto name = *operations->find_or_add("request");
  const std::uint64_t step = GENERATE(as<std::uint64_t>{}, 1, 8, 64, 4096, 1UL << 32);
  for (std::uint64_t i = 0; i < Operations::kPlaces / 8; ++i) {
    operations->begin(name, 0x7f0000001000 + i * step, 0);
  }
  CHECK(operations->lost(name) == 0);
}

TEST_CASE("there is room for as many names as there are points") {
  const auto operations = make_operations();
  for (std::uint32_t i = 0; i < coz::PointRegistry::kMaxPoints; ++i) {
    REQUIRE(operations->find_or_add("name " + std::to_string(i)) == i);
    operations->begin(i, 7, 0);
    operations->end(i, 7, kMillisecond);
    CHECK(ended(*operations, i) == 1);
    CHECK(operations->lost(i) == 0);
  }
  CHECK_FALSE(operations->find_or_add("one more"));
  CHECK(operations->find_or_add("name 3") == 3U);
  const std::string longer(512, 'x');
  CHECK_FALSE(operations->find(longer));
}

TEST_CASE("threads that begin and end operations at once lose none") {
  const auto operations = make_operations();
  const auto name = *operations->find_or_add("request");
  constexpr std::uint64_t kEach = 20'000;
  constexpr std::uint64_t kThreads = 4;
  std::vector<std::thread> threads;
  for (std::uint64_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (std::uint64_t i = 0; i < kEach; ++i) {
        operations->begin(name, i * kThreads + thread, 0);
        operations->end(name, i * kThreads + thread, 3 * kMicrosecond);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(count_of(*operations, name, 3 * kMicrosecond) == kThreads * kEach);
  CHECK(operations->lost(name) == 0);
}

TEST_CASE("what is forgotten is open no longer") {
  const auto operations = make_operations();
  const auto name = *operations->find_or_add("request");
  operations->begin(name, 1, 0);
  operations->begin(name, 2, 0);
  operations->end(name, 2, kMillisecond);
  operations->forget();
  CHECK(ended(*operations, name) == 0);
  operations->end(name, 1, kMillisecond);
  CHECK(ended(*operations, name) == 0);
  CHECK(operations->lost(name) == 1);
}
