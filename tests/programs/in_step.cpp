// Rounds of a millisecond, 600 us in long_part() and then 400 us in short_part(), which another
// thread of OpenMP's runs; each spins while the other works.
//   in_step SECONDS
#include <omp.h>

#include <chrono>
#include <cstdlib>

#include "coz.h"

namespace {

using Clock = std::chrono::steady_clock;

// Each step needs the result of the one before, so that both loops are equally fast.
[[gnu::noinline]] unsigned long long_part(long steps) {
  unsigned long x = 1;
  for (long i = steps; i > 0; --i) x = x * 2862933555777941757 + 3037000493;
  return x;
}

[[gnu::noinline]] unsigned long short_part(long steps) {
  unsigned long x = 2;
  for (long i = steps; i > 0; --i) x = x * 2862933555777941757 + 3037000493;
  return x;
}

volatile unsigned long result;

// Of the fastest of some attempts.
long steps_in_100_us() {
  constexpr long kSteps = 1'000'000;
  double best = 1;
  for (int attempt = 0; attempt < 20; ++attempt) {
    const auto start = Clock::now();
    result = long_part(kSteps);
    const std::chrono::duration<double> took = Clock::now() - start;
    if (took.count() < best) best = took.count();
  }
  return static_cast<long>(kSteps * 100e-6 / best);
}

}  // namespace

int main(int, char** arguments) {
  const long steps = steps_in_100_us();
  const auto end = Clock::now() + std::chrono::seconds(std::atoi(arguments[1]));
  while (Clock::now() < end) {
    result = long_part(6 * steps);
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 1) result = short_part(4 * steps);
    COZ_PROGRESS;
  }
}
