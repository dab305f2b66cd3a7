#include "thread/thread_lives.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>

using coz::kMicrosecond;
using coz::kMillisecond;
using coz::Nanoseconds;
using coz::ThreadLives;

namespace {

constexpr Nanoseconds kPeriod = kMillisecond;

void end(ThreadLives& lives, Nanoseconds life) {
  lives.ended(life, [=] { return life; });
}

}  // namespace

TEST_CASE("short threads are sampled for as many periods as they use in all") {
  ThreadLives lives;
  const Nanoseconds life = GENERATE(35, 50, 500, 999) * kMicrosecond;
  constexpr int kThreads = 20'000;
  int samples = 0;
  for (int i = 0; i < kThreads; ++i) samples += lives.draw_phase(kPeriod) <= life ? 1 : 0;
  const double expected = static_cast<double>(life) / kPeriod * kThreads;
  CHECK(samples == Approx(expected).margin(4));
}

TEST_CASE("so is each kind of threads that take turns") {
  ThreadLives lives;
  constexpr Nanoseconds kLife = 100 * kMicrosecond;
  const int kinds = GENERATE(2, 3, 5, 8);
  constexpr int kRounds = 5000;
  int samples = 0;
  for (int i = 0; i < kRounds * kinds; ++i) {
    const bool is_due = lives.draw_phase(kPeriod) <= kLife;
    if (i % kinds == 0 && is_due) ++samples;
  }
  CHECK(samples == Approx(kRounds / 10).margin(5));
}

TEST_CASE("a phase is more than nothing and at most a period, also of a long one") {
  ThreadLives lives;
  const Nanoseconds period = GENERATE(250 * kMicrosecond, kMillisecond, 2 * coz::kSecond);
  Nanoseconds smallest = period, largest = 0;
  for (int i = 0; i < 1000; ++i) {
    const Nanoseconds phase = lives.draw_phase(period);
    smallest = std::min(smallest, phase);
    largest = std::max(largest, phase);
  }
  CHECK(smallest > 0);
  CHECK(smallest < period / 100);
  CHECK(largest <= period);
  CHECK(largest > period - period / 100);
}

TEST_CASE("a draw comes out as often as its part of the whole says") {
  ThreadLives lives;
  const Nanoseconds part = GENERATE(0, 100, 730, 1000) * kMicrosecond;
  int drawn = 0;
  for (int i = 0; i < 10'000; ++i) drawn += lives.draw_whether(part, kPeriod) ? 1 : 0;
  CHECK(drawn == Approx(static_cast<double>(part) / kPeriod * 10'000).margin(5));
}

TEST_CASE("before any thread has ended, threads may live as long as they like") {
  const ThreadLives lives;
  CHECK(lives.expected_at_most() == std::numeric_limits<Nanoseconds>::max());
}

TEST_CASE("threads are expected to live little longer than recent ones") {
  ThreadLives lives;
  for (int i = 0; i < 10; ++i) end(lives, 100 * kMicrosecond);
  CHECK(lives.expected_at_most() > 120 * kMicrosecond);
  CHECK(lives.expected_at_most() < 200 * kMicrosecond);
}

TEST_CASE("one long life among short ones is remembered for a while") {
  ThreadLives lives;
  end(lives, 5 * kMillisecond);
  for (int i = 0; i < 10; ++i) end(lives, 10 * kMicrosecond);
  CHECK(lives.expected_at_most() > 4 * kMillisecond);
  for (int i = 0; i < 500; ++i) end(lives, 10 * kMicrosecond);
  CHECK(lives.expected_at_most() < 100 * kMicrosecond);
}

TEST_CASE("what a thread waits does not count, and its processor time is asked for in need only") {
  ThreadLives lives;
  end(lives, kMillisecond);
  bool asked = false;
  const auto little = [&] {
    asked = true;
    return 10 * kMicrosecond;
  };
  lives.ended(100 * kMicrosecond, little);
  CHECK_FALSE(asked);
  lives.ended(coz::kSecond, little);
  CHECK(asked);
  CHECK(lives.expected_at_most() < 2 * kMillisecond);
}
