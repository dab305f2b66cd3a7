#include "sampling/sample_cost.h"

#include <signal.h>

#include <array>
#include <atomic>
#include <catch2/catch.hpp>

#include "common/perf_event.h"
#include "common/raw_syscall.h"
#include "sampling/sampling_pauses.h"

using coz::cost_of_sample;
using coz::HandlerTime;
using coz::kMillisecond;
using coz::Nanoseconds;
using coz::SampledRound;
using coz::SamplingPauses;

namespace {

std::atomic<int> traps{0};

void count_trap(int) { traps.fetch_add(1); }

}  // namespace

TEST_CASE("the cost of a sample is the median of the rounds") {
  // A round of 10 ms with samples has ten of them: 0.5 ms more is 50 us each.
  std::array rounds = {SampledRound{9'500'000, 10'000'000}, SampledRound{9'000'000, 10'000'000},
                       SampledRound{9'600'000, 10'000'000}};
  CHECK(cost_of_sample(rounds, kMillisecond) == 50'000);
}

TEST_CASE("a round that was disturbed without samples makes no negative cost") {
  std::array rounds = {SampledRound{11'000'000, 10'000'000}};
  CHECK(cost_of_sample(rounds, kMillisecond) == 0);
  CHECK(cost_of_sample({}, kMillisecond) == 0);
}

TEST_CASE("the handler's time is a mean, 0 without samples") {
  HandlerTime time;
  CHECK(time.mean() == 0);
  time.add(1000);
  time.add(3000);
  CHECK(time.mean() == 2000);
}

TEST_CASE("a pause lasts from its beginning to its end, and both are counted") {
  SamplingPauses pauses;
  CHECK_FALSE(pauses.is_paused());
  pauses.begin();
  CHECK(pauses.is_paused());
  CHECK(pauses.count() == 1);
  pauses.end();
  CHECK_FALSE(pauses.is_paused());
  CHECK(pauses.count() == 2);
}

TEST_CASE("the cost of a trap is measured where perf is allowed, by a thread that blocks signals") {
  const long event = coz::open_own_trap_event(kMillisecond, coz::KernelMode::kExcluded, false);
  if (event < 0) {
    WARN("perf events with traps are refused here");
    CHECK(coz::measure_trap_cost() == 0);
    return;
  }
  coz::raw_syscall(SYS_close, event);
  struct sigaction action = {}, before = {};
  action.sa_handler = count_trap;
  sigaction(SIGTRAP, &action, &before);
  sigset_t all, unblocked;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &unblocked);
  const Nanoseconds cost = coz::measure_trap_cost();
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, &unblocked, &after);
  sigaction(SIGTRAP, &before, nullptr);
  CHECK(traps.load() > 10);
  CHECK(sigismember(&after, SIGTRAP) == 1);
  CHECK(cost >= 0);
  CHECK(cost < 250'000);
}
