// Which locks were waited for, and where they had been taken.
#include "target/lock_waits.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using coz::LockWait;
using coz::LockWaits;
using coz::Nanoseconds;

using Totals = std::pair<std::uint64_t, Nanoseconds>;

std::map<std::tuple<std::uint32_t, std::uintptr_t, std::uintptr_t>, Totals> totals(
    const LockWaits& waits) {
  std::map<std::tuple<std::uint32_t, std::uintptr_t, std::uintptr_t>, Totals> found;
  waits.for_each([&](const LockWait& wait, std::uint64_t number, Nanoseconds waited) {
    Totals& sum = found[{wait.target, wait.lock, wait.taken_at}];
    sum.first += number;
    sum.second += waited;
  });
  return found;
}

}  // namespace

TEST_CASE("waits are counted by target, lock and where it was taken") {
  const auto waits = std::make_unique<LockWaits>();
  waits->add({7, 0x1000, 0x40}, 100);
  waits->add({7, 0x1000, 0x40}, 50);
  waits->add({7, 0x1000, 0x80}, 20);
  waits->add({8, 0x1000, 0x40}, 3);
  waits->add({7, 0x2000, 0}, 4);
  CHECK(totals(*waits) ==
        std::map<std::tuple<std::uint32_t, std::uintptr_t, std::uintptr_t>, Totals>{
            {{7, 0x1000, 0x40}, {2, 150}},
            {{7, 0x1000, 0x80}, {1, 20}},
            {{8, 0x1000, 0x40}, {1, 3}},
            {{7, 0x2000, 0}, {1, 4}}});
}

TEST_CASE("a full table of lock waits keeps what it has") {
  const auto waits = std::make_unique<LockWaits>();
  for (std::uintptr_t lock = 1; lock <= 4 * LockWaits::kMaxKinds; ++lock)
    waits->add({1, lock, 0}, 5);
  const auto before = totals(*waits);
  CHECK(before.size() <= LockWaits::kMaxKinds);
  CHECK(before.size() > LockWaits::kMaxKinds / 2);
  const std::uintptr_t known = std::get<1>(before.begin()->first);
  waits->add({1, known, 0}, 7);
  CHECK(totals(*waits).at({1, known, 0}) == Totals{2, 12});
}

TEST_CASE("locks without a name are told apart until there are too many") {
  const auto waits = std::make_unique<LockWaits>();
  for (std::uintptr_t lock = 1; lock <= LockWaits::kMaxUnnamed; ++lock) {
    CHECK(waits->unnamed(lock) == lock);
  }
  CHECK(waits->unnamed(LockWaits::kMaxUnnamed + 1) == 0);
  CHECK(waits->unnamed(3) == 3);
}

TEST_CASE("threads that meet locks without a name at once give each one place", "[threads]") {
  const auto waits = std::make_unique<LockWaits>();
  std::atomic<int> lost{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (std::uintptr_t lock = 1; lock <= LockWaits::kMaxUnnamed; ++lock) {
        if (waits->unnamed(lock) != lock) ++lost;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(lost == 0);
}

TEST_CASE("threads that count lock waits at once lose none", "[threads]") {
  const auto waits = std::make_unique<LockWaits>();
  constexpr int kRounds = 2000;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        waits->add({1, static_cast<std::uintptr_t>(round % 50), 0}, 1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Totals all;
  for (const auto& [wait, sum] : totals(*waits)) {
    all.first += sum.first;
    all.second += sum.second;
  }
  CHECK(all == Totals{4 * kRounds, 4 * kRounds});
}
