// Four threads that charge, pause for, wake and wait for each other, as the program's do: for TSan,
// and for what must hold of G whoever comes first.
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "delay/call_rules.h"
#include "delay/thread_delays.h"
#include "thread/thread_registry.h"

using coz::kMicrosecond;
using coz::kMillisecond;
using coz::Nanoseconds;
using coz::ThreadDelays;
using coz::ThreadState;
using coz::WakeSource;

namespace {

constexpr Nanoseconds kPeriod = 100 * kMicrosecond;
constexpr Nanoseconds kDelay = kPeriod / 2;
constexpr std::uint32_t kLine = 11;
constexpr std::size_t kThreads = 4;
constexpr int kRounds = 4000;

// A clock for all, so that the test takes no time: looking at it, and sleeping, advance it.
std::atomic<Nanoseconds> shared_clock{kMillisecond};

Nanoseconds look() noexcept { return shared_clock.fetch_add(200) + 200; }

Nanoseconds sleep_until(Nanoseconds deadline) noexcept {
  Nanoseconds seen = shared_clock.load();
  while (seen < deadline && !shared_clock.compare_exchange_weak(seen, deadline)) {
  }
  return std::max(seen, deadline);
}

struct World {
  coz::GlobalDelay global;
  coz::WakerTable wakers;
  coz::PendingCharges pending;
  coz::YoungCharges young;
  coz::SelectionCell selection;
  coz::ThreadRegistry threads;
  coz::DelayEnvironment environment{global,  wakers, pending,     young,      selection,
                                    kPeriod, look,   sleep_until, 5 * kPeriod};
};

std::uintptr_t object_of(std::size_t thread) { return 0x1000 + 64 * thread; }

// What one thread does in a round; returns the samples it was charged for.
int go_round(std::size_t self, int round, ThreadDelays& delays) {
  const std::size_t other = (self + 1 + static_cast<std::size_t>(round) % 3) % kThreads;
  const bool is_in_target = (static_cast<std::size_t>(round) + self) % 3 == 0;
  delays.sampled(is_in_target ? kLine : coz::kNoTarget);
  delays.before_waking(object_of(self));
  switch (round % 5) {
    case 0:
      if (delays.before_blocking()) delays.after_blocking(WakeSource::kThread, object_of(other));
      break;
    case 1:
      if (delays.before_blocking()) delays.after_blocking(WakeSource::kExternal, coz::kNoObject);
      break;
    case 2:
      if (delays.before_blocking()) {
        delays.after_condition(object_of(other), object_of(kThreads));
      }
      break;
    case 3:
      delays.catch_up();
      break;
    default:
      coz::rules::create(delays, [](coz::Nanoseconds) { return 0; });
  }
  return is_in_target ? 1 : 0;
}

// For the handler.
ThreadDelays* sampled_delays = nullptr;
void take_sample(int) { sampled_delays->sampled(kLine); }

}  // namespace

TEST_CASE("the sample that ends a thread's youth may come anywhere in a call", "[threads]") {
  constexpr int kYouths = 200;
  const auto world = std::make_unique<World>();
  world->selection.select(kLine, kDelay);
  ThreadState* state = world->threads.claim(1);
  ThreadDelays delays(state->delay, world->environment, 0x40a100);
  sampled_delays = &delays;
  struct sigaction action = {}, before = {};
  action.sa_handler = take_sample;
  sigaction(SIGUSR1, &action, &before);

  std::atomic<bool> ended{false};
  std::thread sampler([&ended, sampled = pthread_self()] {
    while (!ended) {
      pthread_kill(sampled, SIGUSR1);
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  });
  for (int youth = 0; youth < kYouths; ++youth) {
    delays.begin(delays.local(), static_cast<std::uintptr_t>(youth));
    while (state->delay.smoother.is_young()) {
      delays.settle();
      delays.begin_segment();
    }
  }
  ended = true;
  sampler.join();
  sigaction(SIGUSR1, &before, nullptr);

  CHECK_FALSE(state->delay.busy);
  CHECK(state->delay.deferred == 0);
  CHECK(world->global.get() >= delays.local());
}

TEST_CASE("threads that charge and pay at the same time settle at one global delay", "[threads]") {
  const auto world = std::make_unique<World>();
  world->selection.select(kLine, kDelay);
  std::atomic<int> charged_samples{0};
  std::atomic<int> running{kThreads};
  std::array<ThreadState*, kThreads> states{};
  std::vector<std::thread> threads;
  for (std::size_t self = 0; self < kThreads; ++self) {
    threads.emplace_back([&, self] {
      ThreadState* state = world->threads.claim(static_cast<int>(self) + 1);
      states[self] = state;
      ThreadDelays delays(state->delay, world->environment, self);
      for (int round = 0; round < kRounds; ++round) {
        charged_samples += go_round(self, round, delays);
        // Or one after the other: few cores, and no real waiting.
        if (round % 16 == 0) std::this_thread::yield();
      }
      delays.before_ending(object_of(self));
      --running;
    });
  }
  // As the experiments' thread does: other selections, and a look at all clocks.
  int went_back = 0;
  Nanoseconds last = 0;
  for (int round = 0; running > 0; ++round) {
    if (round % 8 == 0) world->selection.clear();
    world->selection.select(kLine, round % 2 == 0 ? kDelay : kPeriod);
    world->threads.for_each([](ThreadState& state) {
      static_cast<void>(state.delay.clock.local() +
                        state.delay.blocked.load(std::memory_order_relaxed));
    });
    const Nanoseconds now = world->global.get();
    if (now < last) ++went_back;
    last = now;
    std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();

  CHECK(went_back == 0);
  CHECK(world->global.get() > 0);
  // As if each hit had delayed all by itself, at the largest of the speedups.
  CHECK(world->global.get() <= charged_samples * kPeriod);
  CHECK(world->threads.threads_seen() == kThreads);
  for (ThreadState* state : states) ThreadDelays(state->delay, world->environment).catch_up();
  for (ThreadState* state : states) {
    CHECK(state->delay.clock.local() <= world->global.get());
    CHECK(state->delay.clock.local() >= world->global.get() - coz::kMinPause);
    CHECK(state->delay.deferred == 0);
    CHECK_FALSE(state->delay.busy);
    CHECK_FALSE(state->delay.blocked);
    world->threads.release(*state);
  }
}
