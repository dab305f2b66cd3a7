#include "load/amplification.h"

#include <catch2/catch.hpp>
#include <memory>

using coz::Amplification;
using coz::Arrival;
using coz::ArrivalClock;
using coz::kMillisecond;
using coz::Nanoseconds;

namespace {

ArrivalClock clock_starting_at(Nanoseconds start) {
  ArrivalClock clock;
  clock.start_at(start);
  return clock;
}

}  // namespace

TEST_CASE("requests that come every r come every r less d_a") {
  ArrivalClock clock = clock_starting_at(0);
  Nanoseconds local = 0;  // what the thread was charged so far
  for (int i = 1; i <= 10; ++i) {
    const Arrival arrival = clock.arrive(i * 10 * kMillisecond - local, 4 * kMillisecond, 0);
    CHECK(arrival.charge == 4 * kMillisecond);
    CHECK_FALSE(arrival.is_clipped);
    CHECK(arrival.is_first == (i == 1));
    CHECK(arrival.between == (i == 1 ? 0 : 10 * kMillisecond));
    local += arrival.charge;
  }
  CHECK(100 * kMillisecond - local == 10 * 6 * kMillisecond);
}

TEST_CASE("a thread's effective time never runs backwards from one arrival to the next") {
  ArrivalClock clock = clock_starting_at(0);
  Nanoseconds local = 0, last = 0;
  for (int i = 1; i <= 50; ++i) {
    const Nanoseconds real = i * 3 * kMillisecond;
    const Arrival arrival = clock.arrive(real - local, 5 * kMillisecond, 0);
    local += arrival.charge;
    CHECK(real - local >= last);
    last = real - local;
    CHECK(arrival.is_clipped);
  }
  CHECK(local == 50 * 3 * kMillisecond);  // all come at once, and no earlier
}

TEST_CASE("what a burst could not be charged, the arrivals after it make up for") {
  ArrivalClock clock = clock_starting_at(0);
  Nanoseconds local = 0;
  int clipped = 0;
  // Three at once, every 30 ms.
  for (int i = 1; i <= 30; ++i) {
    const Nanoseconds real = (1 + (i - 1) / 3) * 30 * kMillisecond;
    const Arrival arrival = clock.arrive(real - local, 5 * kMillisecond, 0);
    local += arrival.charge;
    clipped += arrival.is_clipped ? 1 : 0;
  }
  CHECK(local == 28 * 5 * kMillisecond);  // but for the last two of the last burst
  CHECK(clipped == 20);
}

TEST_CASE("what a thread can make up for is bounded") {
  ArrivalClock clock = clock_starting_at(0);
  for (int i = 0; i < 1000; ++i) clock.arrive(1, kMillisecond, 0);
  const Arrival arrival = clock.arrive(10'000 * kMillisecond, kMillisecond, 0);
  CHECK(arrival.charge == 17 * kMillisecond);
}

TEST_CASE("a thread's first arrival is not put before its beginning") {
  ArrivalClock clock = clock_starting_at(100 * kMillisecond);
  const Arrival arrival = clock.arrive(101 * kMillisecond, 4 * kMillisecond, 0);
  CHECK(arrival.charge == 1 * kMillisecond);
  CHECK(arrival.is_clipped);
}

TEST_CASE("after a credit that set effective time back, an arrival charges nothing") {
  ArrivalClock clock = clock_starting_at(0);
  clock.arrive(50 * kMillisecond, 0, 0);
  const Arrival arrival = clock.arrive(49 * kMillisecond, 4 * kMillisecond, 0);
  CHECK(arrival.charge == 0);
  CHECK(arrival.between == 0);
}

TEST_CASE("what a thread computes is reported from one arrival to the next") {
  ArrivalClock clock = clock_starting_at(0);
  CHECK(clock.arrive(10 * kMillisecond, 0, 7 * kMillisecond).computed == 0);
  CHECK(clock.arrive(20 * kMillisecond, 0, 10 * kMillisecond).computed == 3 * kMillisecond);
  CHECK(clock.arrive(30 * kMillisecond, 4 * kMillisecond, 19 * kMillisecond).computed ==
        9 * kMillisecond);
}

TEST_CASE("arrivals of all threads are counted together") {
  const auto amplification = std::make_unique<Amplification>();
  amplification->set_delay(7);
  const auto before = amplification->counts();
  amplification->count(1, {7, 0, true, false});
  amplification->count(2, {5, 20, false, true, 9});
  amplification->count_unprofiled();
  const auto counts = amplification->counts().since(before);
  CHECK(counts.arrivals == 3);
  CHECK(counts.clipped == 2);
  CHECK(counts.charged == 12);
  CHECK(counts.intervals == 1);
  CHECK(counts.between == 20);
  CHECK(counts.computed == 9);
}

TEST_CASE("where load is not amplified, no arrival counts as clipped") {
  const auto amplification = std::make_unique<Amplification>();
  amplification->count_unprofiled();
  CHECK(amplification->counts().clipped == 0);
}
