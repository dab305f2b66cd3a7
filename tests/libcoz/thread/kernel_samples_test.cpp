#include "thread/kernel_samples.h"

#include <catch2/catch.hpp>

using coz::KernelSamples;
using coz::kMicrosecond;
using coz::kMillisecond;

namespace {

constexpr coz::Nanoseconds kPeriod = kMillisecond;

KernelSamples begun() {
  KernelSamples samples;
  samples.start_at(0, kPeriod);
  return samples;
}

}  // namespace

TEST_CASE("a sample in each period leaves none for the kernel") {
  KernelSamples samples;
  samples.start_at(5 * kMillisecond, kPeriod);
  for (int i = 1; i <= 10; ++i) {
    const auto late = (i % 3) * 100 * kMicrosecond;
    CHECK(samples.at_sample((5 + i) * kMillisecond + late, kPeriod) == 0);
  }
}

TEST_CASE("a period that ended in a call is a sample of the call") {
  KernelSamples samples = begun();
  // From 0.9 to 1.2 ms of processor time.
  CHECK(samples.at_return(900 * kMicrosecond, 1200 * kMicrosecond, 1200 * kMicrosecond, kPeriod) ==
        1);
  // The next one ends at 2 ms.
  CHECK(samples.at_return(1300 * kMicrosecond, 1900 * kMicrosecond, 1900 * kMicrosecond, kPeriod) ==
        0);
  // It was taken in user mode: nothing is missing.
  CHECK(samples.at_sample(2 * kMillisecond, kPeriod) == 0);
}

TEST_CASE("a long call holds several samples") {
  KernelSamples samples = begun();
  CHECK(samples.at_return(500 * kMicrosecond, 4200 * kMicrosecond, 4200 * kMicrosecond, kPeriod) ==
        4);
}

TEST_CASE("a signal that comes when a call returns stands for all periods that ended in it") {
  KernelSamples samples = begun();
  samples.expect_next(2 * kMillisecond, kPeriod);
  CHECK(samples.at_merged_sample(1100 * kMicrosecond, kPeriod) == 0);  // late, but not by a period
  samples.expect_next(8 * kMillisecond, kPeriod);
  CHECK(samples.at_merged_sample(6500 * kMicrosecond, kPeriod) == 4);
  // The half of a period that was left then.
  samples.expect_next(10 * kMillisecond, kPeriod);
  CHECK(samples.at_merged_sample(8500 * kMicrosecond, kPeriod) == 1);
}

TEST_CASE("a period that ended before the call is not the call's") {
  KernelSamples samples = begun();
  // Page faults until 1.5 ms, then a call of 0.2.
  CHECK(samples.at_return(1500 * kMicrosecond, 1700 * kMicrosecond, 1700 * kMicrosecond, kPeriod) ==
        0);
  // The next sample finds that one is missing.
  CHECK(samples.at_sample(2 * kMillisecond, kPeriod) == 1);
  CHECK(samples.at_sample(3 * kMillisecond, kPeriod) == 0);
}

TEST_CASE("samples come late, and the earliest show when the period ended") {
  KernelSamples samples = begun();
  samples.at_sample(1030 * kMicrosecond, kPeriod);
  samples.at_sample(2012 * kMicrosecond, kPeriod);
  samples.at_sample(3040 * kMicrosecond, kPeriod);
  // It ended at 4.0 ms, not at 4.04.
  CHECK(samples.at_return(3900 * kMicrosecond, 4020 * kMicrosecond, 4020 * kMicrosecond, kPeriod) ==
        1);
}

TEST_CASE("a period that seems to have ended just after a call goes to the next") {
  KernelSamples samples = begun();
  // It ended at 1 ms; the call before lasted until 0.99, this one begins at 1.03.
  CHECK(samples.at_return(1030 * kMicrosecond, 1040 * kMicrosecond, 1040 * kMicrosecond, kPeriod) ==
        1);
}

TEST_CASE("what a call waited for is not processor time") {
  KernelSamples samples = begun();
  // A second passed, in which the thread used 0.3 ms.
  CHECK(samples.at_return(0, coz::kSecond, 300 * kMicrosecond, kPeriod) == 0);
  CHECK_FALSE(samples.may_have_ended(coz::kSecond + 600 * kMicrosecond));
  CHECK(samples.may_have_ended(coz::kSecond + 700 * kMicrosecond));
}

TEST_CASE("processor time is asked for only when the period can have ended") {
  KernelSamples samples = begun();
  CHECK(samples.may_have_ended(0));
  samples.at_return(0, 100, 100, kPeriod);
  CHECK_FALSE(samples.may_have_ended(kPeriod - 1));
  CHECK(samples.may_have_ended(kPeriod));
  samples.at_sample(kPeriod, kPeriod);
  CHECK(samples.may_have_ended(kPeriod));  // the handler does not know the wall clock
}

TEST_CASE("a signal that was blocked for long is not all kernel time") {
  KernelSamples samples = begun();
  CHECK(samples.at_sample(coz::kSecond, kPeriod) == KernelSamples::kMaxAtOnce);
  CHECK(samples.at_sample(coz::kSecond + kPeriod, kPeriod) == 0);
}

TEST_CASE("where periods are random, the next is announced") {
  KernelSamples samples = begun();
  samples.expect_next(1600 * kMicrosecond, 600 * kMicrosecond);
  CHECK(samples.at_sample(kMillisecond, kPeriod) == 0);
  CHECK(samples.at_return(1500 * kMicrosecond, 1700 * kMicrosecond, 1700 * kMicrosecond, kPeriod) ==
        1);
  CHECK(samples.at_return(1800 * kMicrosecond, 2100 * kMicrosecond, 2100 * kMicrosecond, kPeriod) ==
        0);
}

TEST_CASE("what was announced holds where counting begins anew") {
  KernelSamples samples = begun();
  samples.expect_next(1600 * kMicrosecond, 600 * kMicrosecond);
  samples.start_at(kMillisecond, kPeriod);
  CHECK(samples.at_return(1500 * kMicrosecond, 1700 * kMicrosecond, 1700 * kMicrosecond, kPeriod) ==
        1);
  // Nothing of it is left for a thread that comes later.
  samples.start_at(0, kPeriod);
  CHECK(samples.at_sample(kMillisecond, kPeriod) == 0);
  CHECK(samples.at_sample(2 * kMillisecond, kPeriod) == 0);
}

TEST_CASE("dropped samples that repeat a random period stand for as much time as they are apart") {
  KernelSamples samples = begun();
  samples.expect_next(1500 * kMicrosecond, 500 * kMicrosecond);
  CHECK(samples.at_sample(kMillisecond, kPeriod) == 0);
  // At 1.5 ms, and then every half a millisecond until 11.5.
  CHECK(samples.at_return(kMillisecond, 11700 * kMicrosecond, 11700 * kMicrosecond, kPeriod) == 11);
}
