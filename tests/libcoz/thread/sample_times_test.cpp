#include "thread/sample_times.h"

#include <catch2/catch.hpp>
#include <cstdlib>

using coz::kMicrosecond;
using coz::kMillisecond;
using coz::Nanoseconds;
using coz::SampleTimes;

namespace {

constexpr Nanoseconds kPeriod = kMillisecond;
constexpr Nanoseconds kStart = 30 * kMicrosecond;
constexpr Nanoseconds kLate = 15 * kMicrosecond;

// A thread whose first sample is due after `phase`, and whose event is raised without delay.
SampleTimes begun(Nanoseconds phase) {
  SampleTimes samples;
  samples.begin(kStart, phase, phase);
  return samples;
}

}  // namespace

TEST_CASE("after the first sample the event gets the whole period") {
  SampleTimes samples = begun(300 * kMicrosecond);
  CHECK_FALSE(samples.is_steady());
  CHECK(samples.raised_at(kStart + 300 * kMicrosecond + kLate, kPeriod));
  CHECK(samples.event_period() == kPeriod);
  CHECK(samples.raised_at(kStart + 300 * kMicrosecond + kLate + kPeriod, kPeriod));
  CHECK(samples.is_steady());
}

TEST_CASE("a first sample that fell in kernel mode is not taken where the event is raised next") {
  SampleTimes samples = begun(300 * kMicrosecond);
  CHECK_FALSE(samples.raised_at(kStart + 600 * kMicrosecond + kLate, kPeriod));
  // The next one is due a period after the first.
  CHECK(samples.event_period() == 700 * kMicrosecond - kLate);
  CHECK(samples.raised_at(kStart + 1300 * kMicrosecond, kPeriod));
  CHECK(samples.event_period() == kPeriod);
}

TEST_CASE("a sample that comes late because the processor was away is one") {
  SampleTimes samples = begun(300 * kMicrosecond);
  CHECK(samples.raised_at(kStart + 1100 * kMicrosecond, kPeriod));
  CHECK(samples.event_period() == kPeriod);
}

TEST_CASE("a first sample after next to no time comes once") {
  SampleTimes samples = begun(SampleTimes::kMinPeriod);
  const Nanoseconds raised = kStart + SampleTimes::kMinPeriod + kLate;
  CHECK(samples.raised_at(raised, kPeriod));
  // Raised again before the handler had set the period.
  CHECK_FALSE(samples.raised_at(raised + kLate, kPeriod));
  CHECK(samples.raised_at(raised + kPeriod, kPeriod));
}

TEST_CASE("later samples come at random, a period apart on average") {
  SampleTimes samples = begun(400 * kMicrosecond);
  CHECK(samples.raised_at(kStart + 400 * kMicrosecond, kPeriod));
  CHECK(samples.raised_at(kStart + 1400 * kMicrosecond, kPeriod));
  REQUIRE(samples.is_steady());
  constexpr Nanoseconds kStartOfAll = kStart + 1400 * kMicrosecond;
  Nanoseconds time = kStartOfAll;
  constexpr std::uint64_t kNumbers = 1000;
  for (std::uint64_t i = 0; i < kNumbers; ++i) {
    samples.raised(time, i * (~std::uint64_t{0} / (kNumbers - 1)), kPeriod);
    CHECK(samples.event_period() >= kPeriod / 2 - kLate);
    CHECK(samples.event_period() <= kPeriod * 3 / 2);
    // It begins when it is set, and the sample comes late: neither adds up.
    time += samples.event_period() + kLate;
  }
  const Nanoseconds mean = (time - kStartOfAll) / static_cast<Nanoseconds>(kNumbers);
  CHECK(std::abs(mean - kPeriod) < kMicrosecond);
}

TEST_CASE("an event that the program has closed is not waited for for ever") {
  SampleTimes samples = begun(400 * kMicrosecond);
  CHECK_FALSE(samples.is_lost());
  samples.raised(kStart, 0, kPeriod);
  for (int i = 0; i < 3; ++i) CHECK_FALSE(samples.is_lost());
  CHECK(samples.is_lost());
}
