// Code whose line is not easily told: a template inlined in several places, a function with several
// callers, a library function, and a region around part of it all. One thread; the work of each
// part is fixed, so that their shares of the time are known: see PARTS.
#include <coz.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

namespace {

template <int kUnits>
inline void spin_inlined() {
  for (long i = 0; i < kUnits * 60'000L; ++i) asm volatile("" : "+r"(i));  // INLINED
}

[[gnu::noinline]] void spin_called(int units) {
  for (long i = 0; i < units * 60'000L; ++i) asm volatile("" : "+r"(i));  // CALLED
}

// The call must not be the last thing they do: it would be made a jump, which leaves no frame.
[[gnu::noinline]] void once() {
  spin_called(1);  // ONE UNIT
  asm volatile("");
}
[[gnu::noinline]] void thrice() {
  spin_called(3);  // THREE UNITS
  asm volatile("");
}

// PARTS: 2 + 1 inlined, 3 + 1 called; the region holds the inlined 2 and the called 1.
[[gnu::noinline]] void round_of_work() {
  {
    COZ_REGION("part");
    spin_inlined<2>();  // INLINED TWO
    once();
  }
  spin_inlined<1>();  // INLINED ONE
  thrice();
}

double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

int main(int, char** arguments) {
  const double end = now() + std::atof(arguments[1]);
  while (now() < end) {
    round_of_work();
    COZ_PROGRESS_NAMED("round");
  }
}
