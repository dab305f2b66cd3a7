#include "thread/tick_account.h"

#include <catch2/catch.hpp>

using coz::kMicrosecond;
using coz::kMillisecond;
using coz::Nanoseconds;
using coz::TickAccount;

namespace {

constexpr Nanoseconds kPeriod = kMillisecond;
constexpr auto kRuns = [](Nanoseconds) { return true; };

}  // namespace

TEST_CASE("an old thread is due for each period of its own") {
  TickAccount account;
  account.begin(0, kPeriod, kPeriod);
  CHECK_FALSE(account.is_due(900 * kMicrosecond, kPeriod, kRuns));
  CHECK(account.is_due(1100 * kMicrosecond, kPeriod, kRuns));
  CHECK_FALSE(account.is_due(1900 * kMicrosecond, kPeriod, kRuns));
  CHECK(account.is_due(3000 * kMicrosecond, kPeriod, kRuns));
  CHECK(account.is_behind(3000 * kMicrosecond, kPeriod));
  CHECK(account.is_due(3001 * kMicrosecond, kPeriod, kRuns));
  CHECK_FALSE(account.is_behind(3001 * kMicrosecond, kPeriod));
}

TEST_CASE("the first sample is due when it was said to be") {
  TickAccount account;
  account.begin(5050 * kMicrosecond, 5200 * kMicrosecond, kPeriod);
  CHECK_FALSE(account.is_due(5190 * kMicrosecond, kPeriod, kRuns));
  CHECK(account.is_due(5210 * kMicrosecond, kPeriod, kRuns));
  CHECK_FALSE(account.is_due(6190 * kMicrosecond, kPeriod, kRuns));
  CHECK(account.is_due(6210 * kMicrosecond, kPeriod, kRuns));
}

TEST_CASE("a thread that has used no processor time since the last tick is left alone") {
  TickAccount account;
  account.begin(2 * kPeriod, kPeriod, kPeriod);
  CHECK_FALSE(account.is_due(2 * kPeriod, kPeriod, kRuns));
  CHECK(account.is_due(2 * kPeriod + 1, kPeriod, kRuns));
}

TEST_CASE("a thread that does not run is sampled at a later tick, for all that it has used") {
  TickAccount account;
  account.begin(0, kPeriod, kPeriod);
  Nanoseconds since_tick = 0;
  CHECK_FALSE(account.is_due(1200 * kMicrosecond, kPeriod, [&](Nanoseconds since) {
    since_tick = since;
    return false;
  }));
  CHECK(since_tick == 1200 * kMicrosecond);
  CHECK(account.is_behind(1200 * kMicrosecond, kPeriod));
  CHECK(account.is_due(1300 * kMicrosecond, kPeriod, kRuns));
  CHECK_FALSE(account.is_behind(1300 * kMicrosecond, kPeriod));
}

TEST_CASE("a thread that waits for long is not behind, until it has run again") {
  TickAccount account;
  account.begin(0, kPeriod, kPeriod);
  for (int tick = 0; tick < TickAccount::kMaxIdleTicks; ++tick) {
    CHECK(account.is_behind(2 * kPeriod, kPeriod));
  }
  CHECK_FALSE(account.is_behind(2 * kPeriod, kPeriod));
  CHECK(account.is_behind(2 * kPeriod + 1, kPeriod));
}

TEST_CASE("samples that were missed while there were no ticks are not made up for") {
  TickAccount account;
  account.begin(0, kPeriod, kPeriod);
  CHECK(account.is_due(50 * kPeriod, kPeriod, kRuns));
  CHECK_FALSE(account.is_due(50 * kPeriod + 900 * kMicrosecond, kPeriod, kRuns));
}

TEST_CASE("a thread that has not begun, or has ended, is not due") {
  TickAccount account;
  CHECK_FALSE(account.is_due(5 * kPeriod, kPeriod, kRuns));
  CHECK_FALSE(account.is_behind(5 * kPeriod, kPeriod));
  account.begin(0, kPeriod, kPeriod);
  account.end();
  CHECK_FALSE(account.is_due(5 * kPeriod, kPeriod, kRuns));
  CHECK_FALSE(account.is_behind(5 * kPeriod, kPeriod));
}

TEST_CASE("what a thread uses while sampling pauses is not made up for") {
  TickAccount account;
  account.begin(0, kPeriod, kPeriod);
  CHECK_FALSE(account.is_due(400 * kMicrosecond, kPeriod, kRuns));
  for (Nanoseconds used = 1; used <= 7; ++used) {
    account.leave_out(400 * kMicrosecond + used * kPeriod);
  }
  CHECK_FALSE(account.is_due(7900 * kMicrosecond, kPeriod, kRuns));
  CHECK(account.is_due(8100 * kMicrosecond, kPeriod, kRuns));
  CHECK_FALSE(account.is_behind(8100 * kMicrosecond, kPeriod));
}

TEST_CASE("how much a thread has used since it was last passed over is unknown") {
  TickAccount account;
  account.begin(0, kPeriod, kPeriod);
  account.pass_over();
  Nanoseconds since_tick = 0;
  CHECK_FALSE(account.is_due(1500 * kMicrosecond, kPeriod, [&](Nanoseconds since) {
    since_tick = since;
    return false;
  }));
  CHECK(since_tick == 1);
  CHECK(account.is_due(1600 * kMicrosecond, kPeriod, kRuns));
}
