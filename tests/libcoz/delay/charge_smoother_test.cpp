#include "delay/charge_smoother.h"

#include <catch2/catch.hpp>

#include "tests/libcoz/delay/one_segment.h"

using namespace one_segment;
using coz::Decay;

namespace {

constexpr std::uintptr_t kOther = 0x405678;

// `code segments` runs of 0.1 ms, with a hit in every tenth; returns what they were charged.
Nanoseconds run(ChargeSmoother& smoother, Nanoseconds& now, int segments) {
  Nanoseconds charged = 0;
  for (int i = 0; i < segments; ++i) {
    smoother.begin_segment(kSite);
    smoother.resume_segment(now);
    if (i % 10 == 0) smoother.sample(kTarget, kPeriod, now);
    now += kPeriod / 10;
    charged += discharge(smoother, now);
  }
  return charged;
}

// Takes all line time that is left.
Nanoseconds take_all(ChargeSmoother& smoother) {
  Nanoseconds sum = 0;
  smoother.discharge_all(nullptr, kPeriod,
                         [&](Nanoseconds line_time, const coz::ChargeMix*) { sum += line_time; });
  return sum;
}

}  // namespace

TEST_CASE("a bucket decays by the share t/(scale + t)") {
  const Decay decay{.since = 100, .line_time = 900, .scale = 200};
  CHECK(decay.by(100) == 0);
  CHECK(decay.by(50) == 0);  // a clock read elsewhere a little earlier
  CHECK(decay.by(200) == 300);
  CHECK(decay.by(500) == 600);
}

TEST_CASE("as much is charged as was sampled") {
  ChargeSmoother smoother;
  Nanoseconds now = 0;
  CHECK(run(smoother, now, 3000) == Approx(300 * kPeriod).epsilon(0.03));
  CHECK(run(smoother, now, 3000) == Approx(300 * kPeriod).epsilon(0.001));
}

TEST_CASE("a new bucket soon charges what it gets") {
  ChargeSmoother smoother;
  Nanoseconds now = 0;
  CHECK(run(smoother, now, 50) > 2 * kPeriod);
  CHECK(run(smoother, now, 50) > 5 * kPeriod / 2);
  CHECK(run(smoother, now, 50) > 3 * kPeriod);
}

TEST_CASE("a code segment is charged for its own samples only") {
  ChargeSmoother smoother;
  smoother.begin_segment(kSite);
  smoother.sample(kTarget, kPeriod, 0);
  CHECK_FALSE(smoother.is_idle());
  smoother.begin_segment(kOther);
  CHECK(smoother.is_idle());
  smoother.begin_segment(kSite);
  CHECK_FALSE(smoother.is_idle());
}

TEST_CASE("no two of a thread's few code segments share a bucket, wherever they are") {
  for (std::uintptr_t distance = 1; distance < 2000; ++distance) {
    ChargeSmoother smoother;
    for (int i = 0; i < 6; ++i) {
      smoother.begin_segment(kSite + static_cast<std::uintptr_t>(i) * distance);
      REQUIRE(smoother.is_idle());  // else it has what another one left
      smoother.sample(kTarget, kPeriod, 0);
    }
    CHECK(take_all(smoother) == 6 * kPeriod);
  }
}

TEST_CASE("what is known of a thread's few code segments is kept, wherever they are") {
  for (std::uintptr_t distance = 1; distance < 2000; ++distance) {
    ChargeSmoother smoother;
    Nanoseconds now = 0;
    // A run of a code segment in which each period has a sample: what the last one is charged.
    const auto run_for = [&](std::uintptr_t segment, int periods) {
      smoother.begin_segment(kSite + segment * distance);
      Nanoseconds charged = 0;
      for (int i = 0; i < periods; ++i) {
        now += kPeriod;
        smoother.sample(kTarget, kPeriod, now);
        charged = discharge_meanwhile(smoother, now);
      }
      return charged;
    };
    for (int run = 0; run < 20; ++run) run_for(0, 30);
    for (std::uintptr_t segment = 1; segment < 6; ++segment) run_for(segment, 30);
    // The first is known to be long: its samples are charged at once.
    REQUIRE(run_for(0, 1) == kPeriod);
  }
}

TEST_CASE("a code segment takes over a bucket that holds nothing") {
  ChargeSmoother smoother;
  for (std::uintptr_t i = 0; i < 10'000; ++i) smoother.begin_segment(kSite + 16 * i);
  smoother.begin_segment(kOther);
  smoother.sample(kTarget, kPeriod, 0);
  smoother.begin_segment(kSite);
  CHECK(smoother.is_idle());
  CHECK(take_all(smoother) == kPeriod);
}

TEST_CASE("in a code segment that goes on and on, samples in the target are soon charged at once") {
  ChargeSmoother smoother;
  smoother.begin_segment(kSite);
  Nanoseconds now = 0;
  for (int i = 0; i < 10; ++i) {
    now += kPeriod;
    smoother.sample(kTarget, kPeriod, now);
    discharge_meanwhile(smoother, now);
  }
  CHECK(smoother.is_idle());
  now += kPeriod;
  smoother.sample(kTarget, kPeriod, now);
  CHECK(discharge_meanwhile(smoother, now) == kPeriod);
}

TEST_CASE(
    "where code segments last for several periods, samples in the target are charged at once") {
  ChargeSmoother smoother;
  Nanoseconds now = 0;
  for (int i = 0; i < 50; ++i) {
    smoother.begin_segment(kSite);
    for (int sample = 0; sample < 8; ++sample) {
      now += kPeriod;
      smoother.sample(std::nullopt, kPeriod, now);
    }
  }
  smoother.begin_segment(kSite);
  smoother.sample(kTarget, kPeriod, now);
  CHECK(discharge_meanwhile(smoother, now) == kPeriod);
  // The place once serves short code segments for a while.
  for (int i = 0; i < 50; ++i) smoother.begin_segment(kSite);
  smoother.sample(kTarget, kPeriod, now);
  CHECK(discharge_meanwhile(smoother, now) < kPeriod);
}

TEST_CASE("a thread that has made no call yet forgets its samples, too") {
  ChargeSmoother smoother;
  smoother.sample(kTarget, kPeriod, 0);
  discharge(smoother, kPeriod / 10);
  REQUIRE_FALSE(smoother.is_idle());
  smoother.clear();
  CHECK(smoother.is_idle());
  CHECK(take_all(smoother) == 0);
}

TEST_CASE("code segments that share a bucket lose no time") {
  ChargeSmoother smoother;
  Nanoseconds sampled = 0;
  for (std::uintptr_t site = 1; site <= 200; ++site) {
    smoother.begin_segment(site * 0x40);
    smoother.sample(kTarget, kPeriod, 0);
    sampled += kPeriod;
  }
  CHECK(take_all(smoother) == sampled);
  CHECK(take_all(smoother) == 0);
}

TEST_CASE("of very short code segments few are observed, and as much is charged") {
  ChargeSmoother smoother;
  Nanoseconds now = 0;
  Nanoseconds charged = 0;
  Nanoseconds sampled = 0;
  int looked_at = 0;
  constexpr int kSegments = 200'000;
  for (int i = 0; i < kSegments; ++i) {
    smoother.begin_segment(kSite);
    if (!smoother.is_idle()) smoother.resume_segment(now);
    if (i % 5000 == 0) {  // a hit every millisecond
      smoother.sample(kTarget, kPeriod, now);
      sampled += kPeriod;
    }
    now += kPeriod / 5000;
    if (smoother.is_idle()) continue;
    ++looked_at;
    charged += discharge(smoother, now);
  }
  CHECK(looked_at < kSegments / 20);
  CHECK(charged > sampled * 3 / 4);  // what is left is in the bucket
  CHECK(charged + take_all(smoother) == sampled);
}

TEST_CASE("where every second run of a code segment is empty, the others are charged soon") {
  ChargeSmoother smoother;
  Nanoseconds now = 0;
  Nanoseconds charged = 0;
  Nanoseconds sampled = 0;
  for (int i = 0; i < 4000; ++i) {
    smoother.begin_segment(kSite);
    smoother.resume_segment(now);
    if (!smoother.is_idle()) charged += discharge(smoother, now);
    smoother.begin_segment(kSite);
    smoother.resume_segment(now);
    if (i % 20 == 0) {
      smoother.sample(kTarget, kPeriod, now);
      sampled += kPeriod;
    }
    now += kPeriod / 20;
    if (!smoother.is_idle()) charged += discharge(smoother, now);
  }
  CHECK(charged > sampled - 20 * kPeriod);
}

namespace {

constexpr std::uintptr_t kKind = 0x409abc;

// A thread that lives for `life`, with a hit at its half if it `is_hit`; returns what it is
// charged.
Nanoseconds live(coz::YoungCharges& shared, Nanoseconds& now, Nanoseconds life, bool is_hit,
                 std::uintptr_t kind = kKind) {
  ChargeSmoother smoother;
  smoother.begin_young(shared, kind);
  smoother.resume_segment(now);
  Nanoseconds charged = 0;
  if (is_hit) {
    now += life / 2;
    smoother.sample(kTarget, kPeriod, now);
    charged += discharge(smoother, now);
    life -= life / 2;
  }
  now += life;
  charged += discharge(smoother, now);
  return charged + take_all(smoother);
}

}  // namespace

TEST_CASE("young threads are charged alike, whichever of them is sampled") {
  coz::YoungCharges shared;
  Nanoseconds now = 0;
  Nanoseconds charged = 0;
  Nanoseconds with_hit = 0;
  constexpr int kThreads = 8000;
  for (int i = 0; i < kThreads; ++i) {
    const Nanoseconds part = live(shared, now, kPeriod / 20, i % 20 == 0);
    charged += part;
    if (i % 20 == 0) with_hit += part;
  }
  CHECK(charged == Approx(kThreads / 20 * kPeriod).epsilon(0.03));
  CHECK(with_hit == Approx(charged / 20).epsilon(0.1));
}

TEST_CASE("a young thread is charged for samples of its own kind of threads only") {
  coz::YoungCharges shared;
  Nanoseconds now = 0;
  live(shared, now, kPeriod / 2, true);
  CHECK(live(shared, now, kPeriod / 2, false, kKind + 0x40) == 0);
  CHECK(live(shared, now, kPeriod / 2, false) > 0);
}

TEST_CASE("two young threads that take the same time from a bucket lose none of it") {
  coz::YoungCharges shared;
  shared.add(3, kPeriod);
  shared.take(3, kPeriod, kPeriod);
  shared.take(3, kPeriod, kPeriod);
  CHECK(shared.line_time(3) == 0);
  shared.add(3, 3 * kPeriod);
  CHECK(shared.line_time(3) == 2 * kPeriod);
}

TEST_CASE("a thread that grows older gets buckets of its own") {
  coz::YoungCharges shared;
  ChargeSmoother smoother;
  smoother.begin_young(shared, kKind);
  Nanoseconds now = 0;
  for (int i = 0; i < ChargeSmoother::kSamplesOfYouth; ++i) {
    smoother.sample(kTarget, kPeriod, now);
    now += kPeriod;
    CHECK(discharge_meanwhile(smoother, now) < kPeriod);
  }
  CHECK(smoother.is_young());
  smoother.sample(kTarget, kPeriod, now);
  CHECK_FALSE(smoother.is_young());
  // It has lasted for long, so it is charged at once.
  CHECK(discharge_meanwhile(smoother, now) == kPeriod);
}

TEST_CASE("young threads forget what was sampled in another target") {
  coz::YoungCharges shared;
  CHECK(shared.target() == coz::kNoTarget);
  shared.select(7);
  shared.add(3, kPeriod);
  shared.select(7);
  CHECK(shared.line_time(3) == kPeriod);
  shared.select(8);
  CHECK(shared.target() == 8);
  CHECK(shared.line_time(3) == 0);
}
