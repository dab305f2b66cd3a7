#include "delay/pending_charges.h"

#include <catch2/catch.hpp>

using coz::Emptying;
using coz::kMillisecond;
using coz::Nanoseconds;
using coz::PendingCharges;
using coz::Selection;

namespace {

constexpr Nanoseconds kPeriod = kMillisecond;
constexpr std::uint32_t kLine = 5;
constexpr Selection kHalf{kLine, kPeriod / 2, 1};

Nanoseconds most(const PendingCharges& pending, Nanoseconds now, const Selection& of = kHalf) {
  return pending.most(of, kPeriod, [now] { return now; });
}

}  // namespace

TEST_CASE("nothing is pending at first, and the clock is not read") {
  const PendingCharges pending;
  CHECK(pending.is_empty());
  CHECK(pending.most(kHalf, kPeriod, []() -> Nanoseconds { throw 1; }) == 0);
}

TEST_CASE("what has accrued to a thread comes on top of what it has served") {
  PendingCharges pending;
  pending.publish(3, kLine, 7000, Emptying{.since = 100, .line_time = 800, .scale = 300});
  CHECK_FALSE(pending.is_empty());
  CHECK(most(pending, 100) == 7000);
  CHECK(most(pending, 400) == 7000 + 400 / 2);
  CHECK(most(pending, 400, {kLine, 0, 2}) == 7000);
  CHECK(most(pending, 400, {kLine + 1, kPeriod, 3}) == 0);
  pending.withdraw(3);
  CHECK(most(pending, 400) == 0);
}

TEST_CASE("of several threads the one that is ahead counts") {
  PendingCharges pending;
  pending.publish(1, kLine, 7000, Emptying{0, 800, 300});
  pending.publish(2, kLine, 7150, Emptying{0, 100, 300});
  CHECK(most(pending, 0) == 7150);
  CHECK(most(pending, 300) == 7200);
}

TEST_CASE("an entry has one owner, and goes to another with a new line or when the thread ends") {
  PendingCharges pending;
  pending.publish(1, kLine, 1000, Emptying{0, 800, 300});
  pending.publish(9, kLine, 9000, Emptying{0, 800, 300});  // the same entry
  CHECK(most(pending, 0) == 1000);
  pending.withdraw(9);
  CHECK(most(pending, 0) == 1000);
  SECTION("the thread ends") {
    pending.give_up(1);
    pending.publish(9, kLine, 9000, Emptying{0, 800, 300});
    CHECK(most(pending, 0) == 9000);
  }
  SECTION("another line is selected") {
    pending.publish(9, kLine + 1, 9000, Emptying{0, 800, 300});
    CHECK(most(pending, 0) == 0);
    CHECK(most(pending, 0, {kLine + 1, kPeriod, 2}) == 9000);
  }
}
