#include "delay/charge_smoother.h"

#include <catch2/catch.hpp>

using coz::Emptying;
using coz::HitSpreader;
using coz::kMicrosecond;
using coz::kMillisecond;
using coz::Nanoseconds;

namespace {

constexpr Nanoseconds kPeriod = kMillisecond;
constexpr std::uintptr_t kSite = 0x401234;
constexpr std::uintptr_t kOther = 0x405678;

// `stretches` runs of 0.1 ms, with a hit in every tenth; returns what they were charged.
Nanoseconds run(HitSpreader& spreader, Nanoseconds& now, int stretches) {
  Nanoseconds charged = 0;
  for (int i = 0; i < stretches; ++i) {
    spreader.begin(kSite);
    spreader.resume(now);
    if (i % 10 == 0) spreader.sample(true, kPeriod, now);
    now += kPeriod / 10;
    charged += spreader.discharge(kPeriod, now);
  }
  return charged;
}

}  // namespace

TEST_CASE("a bucket empties by the share t/(scale + t)") {
  const Emptying emptying{.since = 100, .line_time = 900, .scale = 200};
  CHECK(emptying.by(100) == 0);
  CHECK(emptying.by(50) == 0);  // a clock read elsewhere a little earlier
  CHECK(emptying.by(200) == 300);
  CHECK(emptying.by(500) == 600);
}

TEST_CASE("as much is charged as was sampled") {
  HitSpreader spreader;
  Nanoseconds now = 0;
  CHECK(run(spreader, now, 3000) == Approx(300 * kPeriod).epsilon(0.03));
  CHECK(run(spreader, now, 3000) == Approx(300 * kPeriod).epsilon(0.001));
}

TEST_CASE("a new bucket soon charges what it gets") {
  HitSpreader spreader;
  Nanoseconds now = 0;
  CHECK(run(spreader, now, 50) > 2 * kPeriod);
  CHECK(run(spreader, now, 50) > 5 * kPeriod / 2);
  CHECK(run(spreader, now, 50) > 3 * kPeriod);
}

TEST_CASE("a stretch is charged for its own samples only") {
  HitSpreader spreader;
  spreader.begin(kSite);
  spreader.sample(true, kPeriod, 0);
  CHECK_FALSE(spreader.is_idle());
  spreader.begin(kOther);
  CHECK(spreader.is_idle());
  spreader.begin(kSite);
  CHECK_FALSE(spreader.is_idle());
}

TEST_CASE("in a stretch that goes on and on, hits are soon charged at once") {
  HitSpreader spreader;
  spreader.begin(kSite);
  Nanoseconds now = 0;
  for (int i = 0; i < 10; ++i) {
    now += kPeriod;
    spreader.sample(true, kPeriod, now);
    spreader.discharge(kPeriod, now);
  }
  CHECK(spreader.is_idle());
  now += kPeriod;
  spreader.sample(true, kPeriod, now);
  CHECK(spreader.discharge(kPeriod, now) == kPeriod);
}

TEST_CASE("where stretches last for several periods, hits are charged at once") {
  HitSpreader spreader;
  Nanoseconds now = 0;
  for (int i = 0; i < 50; ++i) {
    spreader.begin(kSite);
    for (int sample = 0; sample < 3; ++sample) {
      now += kPeriod;
      spreader.sample(false, kPeriod, now);
    }
  }
  spreader.begin(kSite);
  spreader.sample(true, kPeriod, now);
  CHECK(spreader.discharge(kPeriod, now) == kPeriod);
  // The place once serves short stretches for a while.
  for (int i = 0; i < 50; ++i) spreader.begin(kSite);
  spreader.sample(true, kPeriod, now);
  CHECK(spreader.discharge(kPeriod, now) < kPeriod);
}

TEST_CASE("places that share a bucket lose no time") {
  HitSpreader spreader;
  Nanoseconds hits = 0;
  for (std::uintptr_t site = 1; site <= 200; ++site) {
    spreader.begin(site * 0x40);
    spreader.sample(true, kPeriod, 0);
    hits += kPeriod;
  }
  CHECK(spreader.discharge_all() == hits);
  CHECK(spreader.discharge_all() == 0);
}

TEST_CASE("of very short stretches few are looked at, and as much is charged") {
  HitSpreader spreader;
  Nanoseconds now = 0;
  Nanoseconds charged = 0;
  Nanoseconds hits = 0;
  int looked_at = 0;
  constexpr int kStretches = 200'000;
  for (int i = 0; i < kStretches; ++i) {
    spreader.begin(kSite);
    if (!spreader.is_idle()) spreader.resume(now);
    if (i % 5000 == 0) {  // a hit every millisecond
      spreader.sample(true, kPeriod, now);
      hits += kPeriod;
    }
    now += kPeriod / 5000;
    if (spreader.is_idle()) continue;
    ++looked_at;
    charged += spreader.discharge(kPeriod, now);
  }
  CHECK(looked_at < kStretches / 20);
  CHECK(charged > hits * 3 / 4);  // what is left is in the bucket
  CHECK(charged + spreader.discharge_all() == hits);
}
