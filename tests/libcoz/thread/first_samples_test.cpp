#include "thread/first_samples.h"

#include <catch2/catch.hpp>

using coz::FirstSamples;
using coz::kMicrosecond;
using coz::kMillisecond;
using coz::Nanoseconds;

namespace {

constexpr Nanoseconds kPeriod = kMillisecond;
constexpr Nanoseconds kStart = 30 * kMicrosecond;
constexpr Nanoseconds kLate = 15 * kMicrosecond;

// A thread whose first sample is due after `phase`, and whose event is raised without delay.
FirstSamples begun(Nanoseconds phase, Nanoseconds until = FirstSamples::kForever) {
  FirstSamples samples;
  samples.begin(kStart, phase, phase, until);
  return samples;
}

}  // namespace

TEST_CASE("after the first sample the event gets the whole period") {
  FirstSamples samples = begun(300 * kMicrosecond);
  CHECK_FALSE(samples.is_steady());
  CHECK(samples.raised_at(kStart + 300 * kMicrosecond + kLate, kPeriod));
  CHECK(samples.event_period() == kPeriod);
  CHECK(samples.raised_at(kStart + 300 * kMicrosecond + kLate + kPeriod, kPeriod));
  CHECK(samples.is_steady());
}

TEST_CASE("a first sample that fell in kernel mode is not taken where the event is raised next") {
  FirstSamples samples = begun(300 * kMicrosecond);
  CHECK_FALSE(samples.raised_at(kStart + 600 * kMicrosecond + kLate, kPeriod));
  // The next one is due a period after the first.
  CHECK(samples.event_period() == 700 * kMicrosecond - kLate);
  CHECK(samples.raised_at(kStart + 1300 * kMicrosecond, kPeriod));
  CHECK(samples.event_period() == kPeriod);
}

TEST_CASE("a sample that comes late because the processor was away is one") {
  FirstSamples samples = begun(300 * kMicrosecond);
  CHECK(samples.raised_at(kStart + 1100 * kMicrosecond, kPeriod));
  CHECK(samples.event_period() == kPeriod);
}

TEST_CASE("a first sample after next to no time comes once") {
  FirstSamples samples = begun(FirstSamples::kMinPeriod);
  const Nanoseconds raised = kStart + FirstSamples::kMinPeriod + kLate;
  CHECK(samples.raised_at(raised, kPeriod));
  // Raised again before the handler had set the period.
  CHECK_FALSE(samples.raised_at(raised + kLate, kPeriod));
  CHECK(samples.raised_at(raised + kPeriod, kPeriod));
}

TEST_CASE("an event of its own ends when the next sample is due too late") {
  FirstSamples samples = begun(400 * kMicrosecond, kStart + 2 * kPeriod);
  CHECK(samples.raised_at(kStart + 400 * kMicrosecond, kPeriod));
  CHECK_FALSE(samples.is_over());
  CHECK(samples.raised_at(kStart + 400 * kMicrosecond + kPeriod, kPeriod));
  CHECK(samples.is_over());
}

TEST_CASE("an event without an end does not end") {
  FirstSamples samples = begun(400 * kMicrosecond);
  CHECK(samples.raised_at(kStart + 400 * kMicrosecond, kPeriod));
  CHECK(samples.raised_at(kStart + 1400 * kMicrosecond, kPeriod));
  for (int i = 0; i < 1000; ++i) samples.raised(kPeriod);
  CHECK_FALSE(samples.is_over());
}

TEST_CASE("the first sample after the hand-over stands for the time since the last") {
  FirstSamples samples = begun(400 * kMicrosecond, kStart + kPeriod);
  CHECK_FALSE(samples.is_handed_over());
  CHECK(samples.raised_at(kStart + 400 * kMicrosecond, kPeriod));
  REQUIRE(samples.is_over());
  samples.hand_over();
  CHECK(samples.is_handed_over());
  CHECK(samples.stands_for(kStart + 970 * kMicrosecond, kPeriod) == 570 * kMicrosecond);
  // One of them fell in kernel mode.
  CHECK(samples.stands_for(kStart + 1970 * kMicrosecond, kPeriod) == kPeriod);
  samples.taken_over();
  CHECK_FALSE(samples.is_handed_over());
}

TEST_CASE("an event that the program has closed is not waited for for ever") {
  FirstSamples samples = begun(400 * kMicrosecond, kStart + 8 * kPeriod);
  for (int i = 0; i < 10; ++i) CHECK_FALSE(samples.is_lost());
  bool is_lost = false;
  for (int i = 0; i < 20; ++i) is_lost = samples.is_lost();
  CHECK(is_lost);
}
