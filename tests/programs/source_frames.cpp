// Code whose line is not easily told: a template inlined in several places, a function with several
// callers, a library function, and a region around part of it all. One thread; the work of each
// part is fixed, so that their shares of the time are known: see PARTS.
#include <coz.h>

#include "until.h"

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

}  // namespace

int main(int, char** arguments) {
  const Until end = until(arguments[1]);
  while (!is_over(&end)) {
    round_of_work();
    COZ_PROGRESS_NAMED("round");
  }
}
