// Waits for locks as targets: what they are charged and credited, and when their holders pay.
#include <catch2/catch.hpp>

#include "delay/wait_charges.h"
#include "delays_world.h"

namespace {

using namespace delays_world;
using coz::LockHolder;
using coz::WaitCharges;

constexpr std::uint32_t kSite = 7;
constexpr std::uintptr_t kLock = 0x5000;
constexpr std::uintptr_t kOtherLock = 0x6000;

struct LockWorld : World {
  explicit LockWorld(Nanoseconds delay) : World(delay) {
    follows.waits = &waits;
    follows.lock_holds = &holds;
    selection.select(kSite, delay);
  }
  WaitCharges waits;
  coz::LockHolds holds;
  coz::DelayEnvironment follows = environment;
};

struct LockingThread {
  LockingThread(LockWorld& world, std::uint32_t slot) : delays(state, world.follows) {
    state.slot = slot;
    state.holder = 100 + slot;
    for (int i = 0; i < 10; ++i) state.smoother.sample(std::nullopt, kPeriod, 0);
  }
  // Waits for `lock`, which `holder` holds, while `meanwhile` happens; has it then.
  template <typename Meanwhile>
  void wait_for(std::uintptr_t lock, LockHolder holder, Meanwhile meanwhile,
                std::uint32_t site = kSite) {
    coz::rules::acquire_followed(
        delays, lock, [] { return false; }, [](bool taken) { return !taken; },
        [&] {
          const coz::AwaitedLock awaited{lock, &holder, [](const void* found) noexcept {
                                           return *static_cast<const LockHolder*>(found);
                                         }};
          const auto entered = delays.enter_wait(site, &awaited);
          meanwhile();
          delays.leave_wait(entered);
          return true;
        },
        [](bool) { return coz::WakeSource::kThread; });
  }
  void take(std::uintptr_t lock, coz::LockUse use = coz::LockUse::kAlone) {
    coz::rules::acquire_followed(
        delays, lock, [] { return true; }, [](bool taken) { return !taken; }, [] { return true; },
        [](bool) { return coz::WakeSource::kThread; }, use);
  }
  void release(std::uintptr_t lock) {
    coz::rules::release_mutex(delays, lock, [] { return true; }, [&] { released = local(); });
  }
  void release_shared(std::uintptr_t lock) {
    coz::rules::release_rwlock(delays, lock, [&] {
      released = local();
      return 0;
    });
  }
  Nanoseconds local() const { return state.clock.local(); }

  coz::DelayState state;
  ThreadDelays delays;
  Nanoseconds released = 0;  // what it had served at the last release
};

constexpr auto kMs = kMillisecond;
constexpr Nanoseconds kBegin = 1000 * kMs;  // of a world's time

}  // namespace

TEST_CASE("a wait for a lock that is gone takes no effective time") {
  LockWorld world(kPeriod);
  LockingThread holds(world, 0);
  LockingThread waits(world, 1);
  waits.wait_for(kLock, holds.state.holder, [&] {
    clock_now += 4 * kMs;
    holds.release(kLock);
  });
  CHECK(waits.local() == clock_now - kBegin);
  CHECK(world.global.get() >= 4 * kMs);
}

TEST_CASE("the holder pays after the release for a wait that it ends") {
  LockWorld world(kPeriod);
  LockingThread holds(world, 0);
  LockingThread waits(world, 1);
  waits.wait_for(kLock, holds.state.holder, [&] {
    clock_now += 4 * kMs;
    holds.delays.sampled(11);
    CHECK(slept == 0);
    holds.release(kLock);
  });
  CHECK(holds.released == 0);
  CHECK(holds.local() >= 4 * kMs);
}

TEST_CASE("who shares the lock pays after the release, too") {
  LockWorld world(kPeriod);
  LockingThread reads(world, 0);
  LockingThread writes(world, 1);
  reads.take(kLock, coz::LockUse::kShared);
  writes.wait_for(kLock, 0, [&] {
    clock_now += 4 * kMs;
    reads.delays.sampled(11);
    CHECK(slept == 0);
    reads.release_shared(kLock);
  });
  CHECK(reads.released == 0);
  CHECK(reads.local() >= 4 * kMs);
}

TEST_CASE("who has shared another lock, or the same before, pays as ever") {
  LockWorld world(kPeriod / 2);
  LockingThread shares(world, 0);
  LockingThread writes(world, 1);
  shares.take(kLock, coz::LockUse::kShared);
  shares.release_shared(kLock);
  shares.take(kOtherLock, coz::LockUse::kShared);
  writes.wait_for(kLock, 0, [&] {
    clock_now += 4 * kMs;
    shares.release_shared(kOtherLock);
  });
  CHECK(shares.released >= 2 * kMs);
}

TEST_CASE("who holds another lock pays as ever") {
  LockWorld world(kPeriod / 2);
  LockingThread holds(world, 0);
  LockingThread waits(world, 1);
  LockingThread runs(world, 2);
  waits.wait_for(kLock, holds.state.holder, [&] {
    clock_now += 4 * kMs;
    runs.release(kOtherLock);
  });
  CHECK(runs.released >= 2 * kMs);
}

TEST_CASE("a wait at another site does not keep the holder from paying") {
  LockWorld world(kPeriod / 2);
  LockingThread holds(world, 0);
  LockingThread waits(world, 1);
  LockingThread runs(world, 2);
  waits.wait_for(
      kLock, holds.state.holder,
      [&] {
        runs.wait_for(kOtherLock, 0, [] { clock_now += 4 * kMs; });
        holds.release(kLock);
      },
      kSite + 1);
  CHECK(holds.released == 2 * kMs);
}

TEST_CASE("the next holder is the one that others wait for") {
  LockWorld world(kPeriod);
  LockingThread holds(world, 0);
  LockingThread next(world, 1);
  LockingThread last(world, 2);
  last.wait_for(kLock, holds.state.holder, [&] {
    clock_now += kMs;
    next.take(kLock);
    const Nanoseconds served = next.local();
    clock_now += 3 * kMs;
    next.release(kLock);
    CHECK(next.released == served);
    CHECK(next.local() >= served + 3 * kMs);
  });
}

TEST_CASE("a holder that nobody knows of pays for a while only") {
  LockWorld world(kPeriod);
  LockingThread holds(world, 0);
  LockingThread waits(world, 1);
  waits.wait_for(kLock, 0, [&] {
    clock_now += 4 * kMs;
    holds.release(kLock);  // while it pays, it owes more
    CHECK(holds.released >= 4 * kMs);
    CHECK(slept < 30 * kMs);
  });
}

TEST_CASE("of a wait that is shorter by a half, half of the credit is left") {
  LockWorld world(kPeriod / 2);
  LockingThread holds(world, 0);
  LockingThread waits(world, 1);
  waits.wait_for(kLock, holds.state.holder, [&] {
    clock_now += 4 * kMs;
    // The holder had paid 1 ms before anybody waited.
    holds.state.clock.start_at(kMs);
    world.global.raise_to(kMs);
    holds.release(kLock);
  });
  // Of the wait, the holder had served 1 ms; half of the rest is gone.
  CHECK(waits.local() == kMs + (clock_now - kBegin - kMs) / 2);
}

TEST_CASE("without a record of the release, a wait that is shorter earns no credit") {
  LockWorld world(kPeriod / 2);
  LockingThread waits(world, 1);
  waits.wait_for(kLock, 0, [&] { clock_now += 4 * kMs; });
  CHECK(waits.local() == 2 * kMs);
}

TEST_CASE("a request for a device is made when all is paid, where waits are followed") {
  LockWorld world(kPeriod);
  LockingThread thread(world, 0);
  world.global.raise_to(3 * kMs);
  coz::rules::wait_for_outside(thread.delays, [&] {
    CHECK(slept >= 3 * kMs);
    return 0;
  });
}
