#include "load/load_control.h"

#include <catch2/catch.hpp>
#include <memory>

using coz::Amplification;
using coz::ArrivalCounts;
using coz::ArrivalRate;
using coz::kMicrosecond;
using coz::kMillisecond;
using coz::kSecond;
using coz::LoadControl;
using coz::LoadLevel;
using coz::Nanoseconds;

namespace {

constexpr Nanoseconds kInterval = 1 * kMillisecond;

// One thread's arrivals, one every millisecond.
void arrive(Amplification& amplification, int number) {
  for (int i = 0; i < number; ++i) amplification.count(0, {0, kInterval, false, false});
}

}  // namespace

TEST_CASE("parsing a level") {
  CHECK(LoadLevel::parse("750000", "")->means == LoadLevel::Means::kDelay);
  CHECK(LoadLevel::parse("750000", "")->delay({}) == 750 * kMicrosecond);
  CHECK(LoadLevel::parse("0", "")->delay({}) == 0);
  CHECK(LoadLevel::parse("25%", "")->means == LoadLevel::Means::kShare);
  CHECK(LoadLevel::parse("", "4000.5")->value == Approx(4000.5));
}

TEST_CASE("what is not a level is refused") {
  for (const char* text : {"", "x", "-1", "1e400", "100%", "-5%", "%", "1ms", "nan", "1e30"}) {
    INFO(text);
    CHECK_FALSE(LoadLevel::parse(text, ""));
  }
  CHECK_FALSE(LoadLevel::parse("", "0"));
  CHECK_FALSE(LoadLevel::parse("5", "fast"));
}

TEST_CASE("a share is one of the time between two arrivals in a thread") {
  CHECK(LoadLevel::parse("25%", "")->delay({kMillisecond, 4000}) == 250 * kMicrosecond);
}

TEST_CASE("a rate sets the delay by which arrivals must come closer") {
  // The dissertation's example: 1000 a second in the test, 4000 wanted.
  CHECK(LoadLevel::parse("", "4000")->delay({kMillisecond, 1000}) == 750 * kMicrosecond);
  // Two threads.
  CHECK(LoadLevel::parse("", "4000")->delay({2 * kMillisecond, 1000}) == 1500 * kMicrosecond);
}

TEST_CASE("a rate below that of the test leaves the load as it is") {
  CHECK(LoadLevel::parse("", "900")->delay({kMillisecond, 1000}) == 0);
}

TEST_CASE("a rate needs some intervals") {
  CHECK_FALSE(ArrivalRate::from(ArrivalCounts{3, 0, 0, 2, 2}, kSecond));
  CHECK_FALSE(ArrivalRate::from(ArrivalCounts{4, 0, 0, 3, 3}, 0));
  const auto rate = ArrivalRate::from(ArrivalCounts{10, 0, 0, 5, 5 * kMillisecond}, 2 * kSecond);
  REQUIRE(rate);
  CHECK(rate->interval == kMillisecond);
  CHECK(rate->per_second == Approx(5));
}

TEST_CASE("a delay that is known holds from the start") {
  const auto amplification = std::make_unique<Amplification>();
  const LoadControl control(LoadLevel::parse("750", ""), *amplification);
  CHECK(control.is_on());
  CHECK_FALSE(control.is_measuring());
  CHECK(amplification->delay() == 750);
  CHECK(control.since({})->arrival_speedup == 750);
}

TEST_CASE("without a level nothing is amplified or reported") {
  const auto amplification = std::make_unique<Amplification>();
  const LoadControl control(std::nullopt, *amplification);
  CHECK_FALSE(control.is_on());
  CHECK_FALSE(control.is_measuring());
  CHECK_FALSE(control.since({}));
}

TEST_CASE("a share is measured, from the first arrival on, and then holds") {
  const auto amplification = std::make_unique<Amplification>();
  LoadControl control(LoadLevel::parse("25%", ""), *amplification);
  CHECK(control.is_measuring());
  CHECK_FALSE(control.watch(60 * kSecond, 60 * kSecond));  // nothing has arrived
  arrive(*amplification, 1);
  CHECK_FALSE(control.watch(61 * kSecond, 61 * kSecond));
  arrive(*amplification, 1000);
  CHECK(amplification->delay() == 0);
  const auto record = control.watch(62 * kSecond, 62 * kSecond);
  REQUIRE(record);
  CHECK(record->start == 61 * kSecond);
  CHECK(record->duration == 1 * kSecond);
  CHECK(record->interval == kInterval);
  CHECK(record->rate == Approx(1000));
  CHECK(record->arrival_speedup == 250 * kMicrosecond);
  CHECK(amplification->delay() == 250 * kMicrosecond);
  CHECK_FALSE(control.is_measuring());
}

TEST_CASE("rare arrivals are watched for longer, and few are enough") {
  const auto amplification = std::make_unique<Amplification>();
  LoadControl control(LoadLevel::parse("25%", ""), *amplification);
  arrive(*amplification, 1);
  control.watch(0, 0);
  arrive(*amplification, 5);
  CHECK_FALSE(control.watch(6 * kSecond, 6 * kSecond));
  CHECK(control.watch(20 * kSecond, 20 * kSecond));
}

TEST_CASE("a long time without arrivals does not count as time between two") {
  const auto amplification = std::make_unique<Amplification>();
  LoadControl control(LoadLevel::parse("25%", ""), *amplification);
  arrive(*amplification, 1);  // a first request, and then none for half a minute
  for (int i = 0; i < 30; ++i) CHECK_FALSE(control.watch(i * kSecond, i * kSecond));
  amplification->count(0, {0, 30 * kSecond, false, false});
  for (int i = 30; i < 40; ++i) {
    if (control.watch(i * kSecond, i * kSecond)) break;
    arrive(*amplification, 1000);
  }
  CHECK_FALSE(control.is_measuring());
  CHECK(amplification->delay() == 250 * kMicrosecond);
}

TEST_CASE("where arrivals are too close, load is no longer amplified, and the counts say so") {
  const auto amplification = std::make_unique<Amplification>();
  LoadControl control(LoadLevel::parse("1000", ""), *amplification);
  for (int i = 1; i < 300; ++i) {
    amplification->count(0, {700, 700, false, true});
    CHECK_FALSE(control.gives_up());
  }
  amplification->count(0, {700, 700, false, true});
  CHECK(control.gives_up());
  CHECK(control.gives_up());
  CHECK(amplification->delay() == 0);
  amplification->count(0, {0, 700, false, false});
  CHECK(control.since({})->arrival_speedup == 1000);
  CHECK(control.since({})->counts.arrivals == 300);
}

TEST_CASE("a small loss of amplification is accepted") {
  const auto amplification = std::make_unique<Amplification>();
  LoadControl control(LoadLevel::parse("1000", ""), *amplification);
  for (int i = 0; i < 1000; ++i) amplification->count(0, {900, 1200, false, true});
  CHECK_FALSE(control.gives_up());
}

TEST_CASE("arrivals that become too close end amplification soon, however many were not") {
  const auto amplification = std::make_unique<Amplification>();
  LoadControl control(LoadLevel::parse("1000", ""), *amplification);
  for (int i = 0; i < 100'000; ++i) amplification->count(0, {1000, 1200, false, false});
  CHECK_FALSE(control.gives_up());
  for (int i = 0; i < 300; ++i) {
    amplification->count(0, {0, 0, false, true});
    control.gives_up();
  }
  CHECK(control.gives_up());
}

TEST_CASE("a burst does not end amplification") {
  const auto amplification = std::make_unique<Amplification>();
  LoadControl control(LoadLevel::parse("1000", ""), *amplification);
  for (int i = 0; i < 200; ++i) {
    amplification->count(0, {0, 0, false, true});
    CHECK_FALSE(control.gives_up());
  }
  for (int i = 0; i < 1000; ++i) {
    amplification->count(0, {1000, 1200, false, false});
    CHECK_FALSE(control.gives_up());
  }
}
