#include "thread/young_timer.h"

#include <catch2/catch.hpp>

using coz::kMicrosecond;
using coz::kMillisecond;
using coz::Nanoseconds;
using coz::YoungTimer;

namespace {

constexpr Nanoseconds kPeriod = kMillisecond;

}  // namespace

TEST_CASE("the first sample of a young thread is due at its phase, the next a period later") {
  YoungTimer timer;
  timer.begin(40 * kMicrosecond, 300 * kMicrosecond, 8 * kPeriod);
  CHECK(timer.set(40 * kMicrosecond, 0) == 300 * kMicrosecond);
  CHECK(timer.fired(350 * kMicrosecond, kPeriod));
  CHECK(timer.set(350 * kMicrosecond, 0) == 990 * kMicrosecond);
  CHECK_FALSE(timer.is_over());
}

TEST_CASE("a timer is set to less by what it fires late, but never to less than it can do") {
  YoungTimer timer;
  timer.begin(0, 300 * kMicrosecond, 8 * kPeriod);
  CHECK(timer.set(0, 20 * kMicrosecond) == 280 * kMicrosecond);
  CHECK(timer.set(290 * kMicrosecond, 20 * kMicrosecond) == YoungTimer::kMinTime);
}

TEST_CASE("a timer that fires a little early is a sample, and shifts none") {
  YoungTimer timer;
  timer.begin(0, 300 * kMicrosecond, 8 * kPeriod);
  timer.set(0, 0);
  CHECK(timer.fired(293 * kMicrosecond, kPeriod));
  CHECK(timer.due() == 1300 * kMicrosecond);
}

TEST_CASE("a thread that was interrupted takes its sample once it has run for long enough") {
  YoungTimer timer;
  timer.begin(0, 300 * kMicrosecond, 8 * kPeriod);
  timer.set(0, 0);
  CHECK_FALSE(timer.fired(100 * kMicrosecond, kPeriod));
  CHECK(timer.set(100 * kMicrosecond, 0) == 200 * kMicrosecond);
  CHECK_FALSE(timer.is_over());
  CHECK(timer.fired(301 * kMicrosecond, kPeriod));
}

TEST_CASE("ticks take over when a young thread gets older") {
  YoungTimer timer;
  timer.begin(0, 500 * kMicrosecond, 2 * kPeriod);
  CHECK(timer.fired(500 * kMicrosecond, kPeriod));
  CHECK_FALSE(timer.is_over());
  CHECK(timer.fired(1500 * kMicrosecond, kPeriod));
  CHECK(timer.is_over());
  CHECK(timer.due() == 2500 * kMicrosecond);
}

TEST_CASE("ticks take over from a thread that waits in a call that is not seen") {
  YoungTimer timer;
  timer.begin(0, 300 * kMicrosecond, 8 * kPeriod);
  timer.set(0, 0);
  CHECK_FALSE(timer.fired(100 * kMicrosecond, kPeriod));
  // From here on it runs in the handler only.
  Nanoseconds used = 100 * kMicrosecond;
  for (int i = 0; i < YoungTimer::kMaxMisses; ++i) {
    CHECK_FALSE(timer.is_over());
    timer.set(used, 0);
    used += 8 * kMicrosecond;
    CHECK_FALSE(timer.fired(used, kPeriod));
  }
  CHECK(timer.is_over());
  CHECK(timer.due() == 300 * kMicrosecond);
}

TEST_CASE("what was missed while there were no signals is not made up for") {
  YoungTimer timer;
  timer.begin(0, 300 * kMicrosecond, 100 * kPeriod);
  CHECK(timer.fired(50 * kPeriod, kPeriod));
  CHECK(timer.due() == 51 * kPeriod);
}
