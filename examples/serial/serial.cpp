// One thread; each iteration of about a millisecond spends 30 % of its time in one line and 70 % in
// another. Speeding a line up by s gains s·0.3 or s·0.7: the easiest check of a causal profiler.
//
// serial [SECONDS [STEPS]]: STEPS of work an iteration.
#include <coz.h>

#include <chrono>
#include <cstddef>
#include <cstdlib>

namespace {

// Two variables, so that the functions differ: gcc makes one of two that are alike.
std::size_t minor_steps = 0;
std::size_t major_steps = 0;

// 30 %
__attribute__((noinline, aligned(64))) void minor() {
  for (std::size_t x = 0; x < minor_steps; ++x) asm volatile("" : "+r"(x));
}

// 70 %
__attribute__((noinline, aligned(64))) void major() {
  for (std::size_t y = 0; y < major_steps; ++y) asm volatile("" : "+r"(y));
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 60.0;
  const std::size_t steps = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 450'000;
  minor_steps = steps / 10 * 3;
  major_steps = steps / 10 * 7;

  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                       std::chrono::duration<double>(seconds));
  while (std::chrono::steady_clock::now() < end) {
    minor();
    major();
    COZ_PROGRESS_NAMED("iteration");
  }
  return 0;
}
