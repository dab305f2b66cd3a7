#include "delay/delay_ledger.h"

#include <array>
#include <catch2/catch.hpp>
#include <optional>

#include "experiment/random.h"

using coz::GlobalDelay;
using coz::kMicrosecond;
using coz::kMillisecond;
using coz::Nanoseconds;
using coz::ThreadClock;

namespace {

constexpr Nanoseconds kDelay = 100 * kMicrosecond;
constexpr Nanoseconds kMaxSaved = 5 * kMillisecond;

ThreadClock::Blocked blocked_at(Nanoseconds local, Nanoseconds since) { return {local, since}; }

Nanoseconds credited(Nanoseconds local, Nanoseconds blocked_for, std::optional<Nanoseconds> waker,
                     Nanoseconds global) {
  ThreadClock clock;
  clock.start_at(local);
  clock.credit(blocked_at(local, 1000), 1000 + blocked_for, waker, global, kMaxSaved);
  return clock.local();
}

}  // namespace

TEST_CASE("G starts at zero and is only ever raised") {
  GlobalDelay global;
  CHECK(global.get() == 0);
  global.raise_to(500);
  CHECK(global.get() == 500);
  global.raise_to(499);
  CHECK(global.get() == 500);
}

TEST_CASE("a sample raises G to the largest local delay, not by the sample's delay") {
  GlobalDelay global;
  ThreadClock a;
  ThreadClock b;
  a.charge(kDelay, global);
  a.charge(kDelay, global);
  CHECK(global.get() == 2 * kDelay);
  b.charge(kDelay, global);
  CHECK(b.local() == kDelay);
  CHECK(global.get() == 2 * kDelay);
}

TEST_CASE("threads that run the line together never pause for each other") {
  GlobalDelay global;
  ThreadClock a;
  ThreadClock b;
  for (int round = 1; round <= 1000; ++round) {
    a.charge(kDelay, global);
    b.charge(kDelay, global);
    REQUIRE(a.pause_due(global.get(), 0) == 0);
    REQUIRE(b.pause_due(global.get(), 0) == 0);
    REQUIRE(global.get() == round * kDelay);
  }
}

TEST_CASE("a thread that did not run the line owes its delay") {
  GlobalDelay global;
  ThreadClock runs_line;
  ThreadClock other;
  runs_line.charge(kDelay, global);
  const Nanoseconds due = other.pause_due(global.get(), 0);
  CHECK(due == kDelay);
  CHECK(other.local() == 0);  // asking for the pause does not serve it
  other.paused(due, due);
  CHECK(other.local() == kDelay);
  CHECK(other.pause_due(global.get(), 0) == 0);
}

TEST_CASE("what a thread overslept serves later pauses first") {
  ThreadClock clock;
  clock.paused(clock.pause_due(1000, 0), 1300);
  CHECK(clock.local() == 1000);
  CHECK(clock.excess() == 300);

  SECTION("a smaller debt is served by it whole") {
    CHECK(clock.pause_due(1200, 0) == 0);
    CHECK(clock.local() == 1200);
    CHECK(clock.excess() == 100);
  }
  SECTION("a larger debt is served in part") {
    CHECK(clock.pause_due(1500, 0) == 200);
    CHECK(clock.local() == 1300);
    CHECK(clock.excess() == 0);
  }
  SECTION("it is used even where the rest is below the threshold") {
    CHECK(clock.pause_due(1500, 250) == 0);
    CHECK(clock.local() == 1300);
    CHECK(clock.excess() == 0);
  }
  SECTION("it stays where nothing is owed") {
    CHECK(clock.pause_due(1000, 0) == 0);
    CHECK(clock.pause_due(400, 0) == 0);
    CHECK(clock.local() == 1000);
    CHECK(clock.excess() == 300);
  }
}

TEST_CASE("a pause in which the process stood still serves later pauses for a moment only") {
  ThreadClock clock;
  clock.paused(clock.pause_due(1000, 0), 10 * coz::kSecond);
  CHECK(clock.excess() <= 100 * coz::kMillisecond);
  CHECK(clock.pause_due(coz::kSecond, 0) > coz::kSecond / 2);
}

TEST_CASE("a pause of at most the threshold stays owed until it is longer") {
  ThreadClock clock;
  CHECK(clock.pause_due(coz::kMinPause, coz::kMinPause) == 0);
  CHECK(clock.local() == 0);
  CHECK(clock.pause_due(coz::kMinPause + 1, coz::kMinPause) == coz::kMinPause + 1);
}

TEST_CASE("a pause that was cut short serves only what was slept") {
  ThreadClock clock;
  const Nanoseconds due = clock.pause_due(1000, 0);
  clock.paused(due, 400);
  CHECK(clock.local() == 400);
  CHECK(clock.excess() == 0);
  CHECK(clock.pause_due(1000, 0) == 600);
}

TEST_CASE("overshoot never enters G") {
  GlobalDelay global;
  ThreadClock runs_line;
  ThreadClock pauses;
  runs_line.charge(kDelay, global);
  const Nanoseconds due = pauses.pause_due(global.get(), 0);
  pauses.paused(due, due + 7 * kMillisecond);
  pauses.pause_due(global.get(), 0);
  CHECK(pauses.local() == kDelay);
  CHECK(global.get() == kDelay);
  // Nor when the thread that overslept runs the line next.
  pauses.charge(kDelay, global);
  CHECK(global.get() == 2 * kDelay);
}

TEST_CASE("a new thread inherits its parent's local delay, and has no excess") {
  ThreadClock clock;
  clock.paused(0, 500);
  REQUIRE(clock.excess() == 500);
  clock.start_at(4000);
  CHECK(clock.local() == 4000);
  CHECK(clock.excess() == 0);
}

TEST_CASE("block() remembers the clock, and changes nothing") {
  ThreadClock clock;
  clock.start_at(70);
  const auto before = clock.block(12345);
  CHECK(before.local == 70);
  CHECK(before.since == 12345);
  CHECK(clock.local() == 70);
}

TEST_CASE("credit: a woken thread takes over what its waker had served") {
  SECTION("the waker's delay") { CHECK(credited(100, 1000, 600, 2000) == 600); }
  SECTION("never more than it was blocked for") { CHECK(credited(100, 300, 600, 2000) == 400); }
  SECTION("never more than G") { CHECK(credited(100, 5000, 900, 700) == 700); }
  SECTION("it may fall below what the thread had served when it blocked") {
    CHECK(credited(500, 1000, 200, 2000) == 200);
  }
  SECTION("without a record of the waker, G stands in") {
    CHECK(credited(100, 5000, std::nullopt, 2000) == 2000);
    CHECK(credited(100, 300, std::nullopt, 2000) == 400);
  }
  SECTION("a waker that had served nothing is not a missing record") {
    CHECK(credited(500, 5000, 0, 2000) == 0);
  }
}

TEST_CASE("credit: waiting time that is left over is saved, and spent once") {
  ThreadClock clock;
  clock.credit(blocked_at(0, 1000), 2000, 0, 0, kMaxSaved);  // 1000 waited, nothing earned
  clock.credit(blocked_at(0, 3000), 3100, 700, 700, kMaxSaved);
  CHECK(clock.local() == 700);  // 100 of this wait, 600 saved
  clock.credit(blocked_at(700, 4000), 4100, 2000, 2000, kMaxSaved);
  CHECK(clock.local() == 700 + 100 + 400);  // and the rest of it
  clock.credit(blocked_at(1200, 5000), 5100, 2000, 2000, kMaxSaved);
  CHECK(clock.local() == 1300);
}

TEST_CASE("credit: no more wait is saved than allowed, and a new thread has none") {
  ThreadClock clock;
  clock.credit(blocked_at(0, 0), kMillisecond * 1000, 0, 0, kMaxSaved);
  clock.credit(blocked_at(0, 0), 0, 100 * kMillisecond, 100 * kMillisecond, kMaxSaved);
  CHECK(clock.local() == kMaxSaved);
  clock.credit(blocked_at(0, 0), kMillisecond * 1000, 0, 0, kMaxSaved);
  clock.start_at(0);
  clock.credit(blocked_at(0, 0), 100, kMillisecond, kMillisecond, kMaxSaved);
  CHECK(clock.local() == 100);
}

TEST_CASE("credit: a waker that had served less takes nothing from what is saved") {
  ThreadClock clock;
  clock.credit(blocked_at(0, 0), 1000, 0, 0, kMaxSaved);
  clock.credit(blocked_at(500, 2000), 2000, 200, 2000, kMaxSaved);
  CHECK(clock.local() == 200);
  clock.credit(blocked_at(200, 3000), 3000, 1200, 2000, kMaxSaved);
  CHECK(clock.local() == 1200);
}

TEST_CASE("credit leaves what was overslept alone") {
  ThreadClock clock;
  clock.paused(0, 500);
  clock.credit(blocked_at(0, 0), 1000, 300, 2000, kMaxSaved);
  CHECK(clock.excess() == 500);
  CHECK(clock.pause_due(2000, 0) == 1200);
}

namespace {

// A thread with books of its own, kept apart from ThreadClock's.
struct Booked {
  ThreadClock clock;
  Nanoseconds charged = 0;
  Nanoseconds slept = 0;
  Nanoseconds credits = 0;
  Nanoseconds time = 0;

  void pay(const GlobalDelay& global, coz::Random& random) {
    for (;;) {
      const Nanoseconds due = clock.pause_due(global.get(), 0);
      if (due == 0) return;
      // Mostly late; now and then interrupted half-way.
      const bool cut_short = due > 1 && random.below(4) == 0;
      const Nanoseconds took =
          cut_short ? due / 2 : due + static_cast<Nanoseconds>(random.below(80 * kMicrosecond));
      clock.paused(due, took);
      slept += took;
      time += took;
    }
  }
  Nanoseconds account() const { return charged + slept - clock.excess() + credits; }
};

}  // namespace

TEST_CASE("settled: own samples·d + pauses + credits = G, in every thread") {
  const std::uint64_t seed = GENERATE(1, 2, 3, 4, 5, 6, 7, 8);
  coz::Random random(seed);
  GlobalDelay global;
  std::array<Booked, 5> threads;
  const auto index_of = [&](const Booked& thread) {
    return static_cast<std::size_t>(&thread - threads.data());
  };

  for (int step = 0; step < 5000; ++step) {
    Booked& thread = threads[random.below(threads.size())];
    thread.time += static_cast<Nanoseconds>(random.below(200 * kMicrosecond));
    switch (random.below(4)) {
      case 0: {  // a sample in the line
        thread.clock.charge(kDelay, global);
        thread.charged += kDelay;
        thread.pay(global, random);
        break;
      }
      case 1: {  // blocks, and is woken by another
        Booked& waker = threads[(index_of(thread) + 1) % threads.size()];
        waker.pay(global, random);
        const Nanoseconds served = waker.clock.local();
        const auto before = thread.clock.block(thread.time);
        thread.time += static_cast<Nanoseconds>(random.below(2 * kMillisecond));
        if (random.below(2) == 0) {  // G grows between the release and the waking
          waker.clock.charge(kDelay, global);
          waker.charged += kDelay;
        }
        const bool recorded = random.below(3) > 0;
        thread.clock.credit(before, thread.time, recorded ? std::optional(served) : std::nullopt,
                            global.get(), kMaxSaved);
        thread.credits += thread.clock.local() - before.local;
        thread.pay(global, random);
        break;
      }
      default:  // a sample elsewhere
        thread.pay(global, random);
    }
    REQUIRE(thread.clock.local() == global.get());
    REQUIRE(thread.account() == global.get());
  }

  Nanoseconds all_charged = 0;
  Nanoseconds most_charged = 0;
  for (Booked& thread : threads) {
    thread.pay(global, random);
    CHECK(thread.account() == global.get());
    all_charged += thread.charged;
    most_charged = std::max(most_charged, thread.charged);
  }
  // Nothing but samples raises G, each by d at the most; and nobody has paid less than G asks.
  CHECK(global.get() <= all_charged);
  CHECK(global.get() >= most_charged);
}
