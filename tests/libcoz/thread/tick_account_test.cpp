#include "thread/tick_account.h"

#include <catch2/catch.hpp>

using coz::kMicrosecond;
using coz::kMillisecond;
using coz::LeftoverTime;
using coz::Nanoseconds;
using coz::TickAccount;

namespace {

constexpr Nanoseconds kPeriod = kMillisecond;
constexpr auto kRuns = [](Nanoseconds) { return true; };

}  // namespace

TEST_CASE("an old thread is due for each period of its own") {
  TickAccount account;
  LeftoverTime leftover;
  leftover.add(5 * kPeriod);
  account.begin(0, 0, false, kPeriod);
  CHECK_FALSE(account.is_due(900 * kMicrosecond, kPeriod, leftover, kRuns));
  CHECK(account.is_due(1100 * kMicrosecond, kPeriod, leftover, kRuns));
  CHECK_FALSE(account.is_due(1900 * kMicrosecond, kPeriod, leftover, kRuns));
  CHECK(account.is_due(3000 * kMicrosecond, kPeriod, leftover, kRuns));
  CHECK(account.is_behind(3000 * kMicrosecond, kPeriod));
  CHECK(account.is_due(3001 * kMicrosecond, kPeriod, leftover, kRuns));
  CHECK_FALSE(account.is_behind(3001 * kMicrosecond, kPeriod));
  CHECK(leftover.get() == 5 * kPeriod);
}

TEST_CASE("a young thread takes a sample for what others have left, too") {
  TickAccount account;
  LeftoverTime leftover;
  account.begin(50 * kMicrosecond, 0, true, kPeriod);
  CHECK_FALSE(account.is_due(60 * kMicrosecond, kPeriod, leftover, kRuns));
  leftover.add(985 * kMicrosecond);
  CHECK(account.is_due(65 * kMicrosecond, kPeriod, leftover, kRuns));
  CHECK(leftover.get() == 0);
  // From here on it begins anew.
  CHECK_FALSE(account.is_due(1060 * kMicrosecond, kPeriod, leftover, kRuns));
  CHECK(account.is_due(1070 * kMicrosecond, kPeriod, leftover, kRuns));
}

TEST_CASE("a thread that has used no processor time since the last tick is left alone") {
  TickAccount account;
  LeftoverTime leftover;
  account.begin(50 * kMicrosecond, 0, true, kPeriod);
  CHECK_FALSE(account.is_due(70 * kMicrosecond, kPeriod, leftover, kRuns));
  leftover.add(2 * kPeriod);
  CHECK_FALSE(account.is_due(70 * kMicrosecond, kPeriod, leftover, kRuns));
}

TEST_CASE("a thread that does not run is sampled at a later tick, for all that it has used") {
  TickAccount account;
  LeftoverTime leftover;
  account.begin(0, 0, false, kPeriod);
  Nanoseconds since_tick = 0;
  CHECK_FALSE(account.is_due(1200 * kMicrosecond, kPeriod, leftover, [&](Nanoseconds since) {
    since_tick = since;
    return false;
  }));
  CHECK(since_tick == 1200 * kMicrosecond);
  CHECK(account.is_behind(1200 * kMicrosecond, kPeriod));
  CHECK(account.is_due(1300 * kMicrosecond, kPeriod, leftover, kRuns));
  CHECK_FALSE(account.is_behind(1300 * kMicrosecond, kPeriod));
}

TEST_CASE("a thread that waits for long is not behind, until it has run again") {
  TickAccount account;
  account.begin(0, 0, false, kPeriod);
  for (int tick = 0; tick < TickAccount::kMaxIdleTicks; ++tick) {
    CHECK(account.is_behind(2 * kPeriod, kPeriod));
  }
  CHECK_FALSE(account.is_behind(2 * kPeriod, kPeriod));
  CHECK(account.is_behind(2 * kPeriod + 1, kPeriod));
}

TEST_CASE("what others have left is not taken for a young thread that does not run") {
  TickAccount account;
  LeftoverTime leftover;
  leftover.add(kPeriod);
  account.begin(50 * kMicrosecond, 0, true, kPeriod);
  CHECK_FALSE(
      account.is_due(60 * kMicrosecond, kPeriod, leftover, [](Nanoseconds) { return false; }));
  CHECK(leftover.get() == kPeriod);
}

TEST_CASE("ticks sample short threads for as many periods as they use in all") {
  LeftoverTime leftover;
  constexpr Nanoseconds kLife = 50 * kMicrosecond;
  Nanoseconds used = 0;
  int samples = 0;
  // Every 17th is found by a tick, in the middle of its life.
  for (int i = 0; i < 20'000; ++i) {
    TickAccount account;
    account.begin(0, 0, true, kPeriod);
    const bool is_due = i % 17 == 0 && account.is_due(kLife / 2, kPeriod, leftover, kRuns);
    if (is_due) ++samples;
    leftover.add(account.left_at_end(kLife, is_due ? 1 : 0, kPeriod));
    used += kLife;
  }
  CHECK(samples == Approx(static_cast<double>(used) / kPeriod).margin(2));
}

TEST_CASE("a signal that has not reached the thread before its end is no sample") {
  TickAccount account;
  LeftoverTime leftover;
  account.begin(0, 7, true, kPeriod);
  CHECK(account.is_due(1200 * kMicrosecond, kPeriod, leftover, kRuns));
  CHECK(account.left_at_end(1300 * kMicrosecond, 7, kPeriod) == 1300 * kMicrosecond);
}

TEST_CASE("samples that were missed while there were no ticks are not made up for") {
  TickAccount account;
  LeftoverTime leftover;
  account.begin(0, 0, false, kPeriod);
  CHECK(account.is_due(50 * kPeriod, kPeriod, leftover, kRuns));
  CHECK_FALSE(account.is_due(50 * kPeriod + 900 * kMicrosecond, kPeriod, leftover, kRuns));
}

TEST_CASE("a thread that has not begun, or has ended, is not due and leaves nothing") {
  TickAccount account;
  LeftoverTime leftover;
  CHECK_FALSE(account.has_begun());
  CHECK_FALSE(account.is_due(5 * kPeriod, kPeriod, leftover, kRuns));
  CHECK(account.left_at_end(5 * kPeriod, 0, kPeriod) == 0);
  account.begin(0, 0, true, kPeriod);
  CHECK(account.left_at_end(300 * kMicrosecond, 0, kPeriod) == 300 * kMicrosecond);
  CHECK_FALSE(account.is_due(5 * kPeriod, kPeriod, leftover, kRuns));
}

TEST_CASE("what has been left is bounded") {
  LeftoverTime leftover;
  leftover.add(100 * kPeriod);
  leftover.limit(64 * kPeriod);
  CHECK(leftover.get() == 64 * kPeriod);
  CHECK_FALSE(leftover.take(65 * kPeriod));
  CHECK(leftover.take(64 * kPeriod));
  CHECK(leftover.get() == 0);
}
