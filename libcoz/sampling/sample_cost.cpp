#include "sampling/sample_cost.h"

#include <signal.h>
#include <time.h>

#include <algorithm>
#include <array>

#include "common/clock.h"
#include "common/perf_event.h"
#include "common/raw_syscall.h"
#include "kernel/signal_bits.h"

namespace coz {
namespace {

// Often enough for the cost to show, and rare enough for the caches to be the computation's again.
constexpr Nanoseconds kPeriod = 250 * kMicrosecond;
constexpr std::size_t kRounds = 5;
constexpr long kTurns = 6'000'000;  // about 2 ms

// The event while it is measured with, else below 0.
std::atomic<long> own_event{-1};

Nanoseconds time_work() noexcept {
  const Nanoseconds start = own_processor_time();
  for (long turns = kTurns; turns > 0; --turns) asm volatile("" : "+r"(turns));
  return own_processor_time() - start;
}

// While it lives, the thread takes SIGTRAP; what the program is sent is passed on.
class TakesTrap {
 public:
  TakesTrap() noexcept { change_kernel_mask(SIG_UNBLOCK, bit_of(SIGTRAP)); }
  ~TakesTrap() { change_kernel_mask(SIG_BLOCK, bit_of(SIGTRAP)); }
  TakesTrap(const TakesTrap&) = delete;
  TakesTrap& operator=(const TakesTrap&) = delete;
};

}  // namespace

Nanoseconds cost_of_sample(std::span<SampledRound> rounds, Nanoseconds period) noexcept {
  if (rounds.empty()) return 0;
  const auto added = [](const SampledRound& round) {
    return static_cast<double>(round.with - round.without) / static_cast<double>(round.with);
  };
  const auto middle = rounds.begin() + static_cast<std::ptrdiff_t>(rounds.size() / 2);
  std::nth_element(
      rounds.begin(), middle, rounds.end(),
      [&](const SampledRound& a, const SampledRound& b) { return added(a) < added(b); });
  return std::max<Nanoseconds>(
      0, static_cast<Nanoseconds>(added(*middle) * static_cast<double>(period)));
}

Nanoseconds measure_trap_cost() noexcept {
  const long event = open_own_trap_event(kPeriod, KernelMode::kExcluded, false);
  if (event < 0) return 0;
  own_event.store(event);
  std::array<SampledRound, kRounds> rounds;
  {
    const TakesTrap takes_trap;
    for (SampledRound& round : rounds) {
      round.without = time_work();
      set_event_counting(event, true);
      round.with = time_work();
      set_event_counting(event, false);
    }
  }
  own_event.store(-1);
  raw_syscall(SYS_close, event);
  return cost_of_sample(rounds, kPeriod);
}

void close_cost_event_in_forked_child() noexcept {
  const long event = own_event.exchange(-1);
  if (event >= 0) raw_syscall(SYS_close, event);
}

}  // namespace coz
