#include "delay/pending_charges.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

using coz::Decay;
using coz::kMillisecond;
using coz::Nanoseconds;
using coz::PendingCharges;

namespace {

constexpr Nanoseconds kPeriod = kMillisecond;
constexpr std::uint32_t kEpoch = 5;
constexpr Nanoseconds kHalf = kPeriod / 2;

Nanoseconds most(const PendingCharges& pending, Nanoseconds now, std::uint32_t epoch = kEpoch) {
  return pending.max_local(epoch, kPeriod, [now] { return now; });
}

}  // namespace

TEST_CASE("nothing is pending at first, and the clock is not read") {
  const PendingCharges pending;
  CHECK(pending.is_empty());
  CHECK(pending.max_local(kEpoch, kPeriod, []() -> Nanoseconds { throw 1; }) == 0);
}

TEST_CASE("what has accrued to a thread comes on top of what it has served") {
  PendingCharges pending;
  pending.publish(3, kEpoch, 7000, kHalf, Decay{.since = 100, .line_time = 800, .scale = 300});
  CHECK_FALSE(pending.is_empty());
  CHECK(most(pending, 100) == 7000);
  CHECK(most(pending, 400) == 7000 + 400 / 2);
  CHECK(most(pending, 400, kEpoch + 1) == 0);
  pending.withdraw(3);
  CHECK(most(pending, 400) == 0);
}

TEST_CASE("of several threads the one that is ahead counts") {
  PendingCharges pending;
  pending.publish(1, kEpoch, 7000, kHalf, Decay{0, 800, 300});
  pending.publish(2, kEpoch, 7150, kHalf, Decay{0, 100, 300});
  CHECK(most(pending, 0) == 7150);
  CHECK(most(pending, 300) == 7200);
}

TEST_CASE(
    "an entry has one owner, and goes to another with a new selection or when the thread ends") {
  PendingCharges pending;
  pending.publish(1, kEpoch, 1000, kHalf, Decay{0, 800, 300});
  pending.publish(9, kEpoch, 9000, kHalf, Decay{0, 800, 300});  // the same entry
  CHECK(most(pending, 0) == 1000);
  pending.withdraw(9);
  CHECK(most(pending, 0) == 1000);
  SECTION("the thread ends") {
    pending.give_up(1);
    pending.publish(9, kEpoch, 9000, kHalf, Decay{0, 800, 300});
    CHECK(most(pending, 0) == 9000);
  }
  SECTION("something else is selected") {
    pending.publish(9, kEpoch + 1, 9000, kHalf, Decay{0, 800, 300});
    CHECK(most(pending, 0) == 0);
    CHECK(most(pending, 0, kEpoch + 1) == 9000);
  }
}

TEST_CASE("no reader sees more pending than was published", "[threads]") {
  PendingCharges pending;
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  // More threads than entries, so that some share one.
  for (std::uint32_t slot : {0U, 1U, 8U, 9U}) {
    threads.emplace_back([&, slot] {
      for (Nanoseconds local = 0; !stop; ++local) {
        const Nanoseconds line_time = kPeriod - local % 1000;
        pending.publish(slot, kEpoch, 100, kHalf,
                        {.since = 0, .line_time = line_time, .scale = kPeriod});
        if (local % 3 == 0) pending.withdraw(slot);
        if (local % 101 == 0) pending.give_up(slot);
      }
    });
  }
  int wrong = 0;
  for (int i = 0; i < 20'000; ++i) {
    const Nanoseconds found = most(pending, coz::kSecond);
    if (found < 0 || found > 100 + kHalf) ++wrong;
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}
