// Operations of two threads, each one as long as a block that is left in three ways.
//
// scoped_operations SECONDS   prints how many there were
#include <coz.h>

#include <atomic>
#include <cstdio>
#include <stdexcept>
#include <thread>

#include "until.h"

namespace {

void work() {
  for (long i = 0; i < 3000000; ++i) asm volatile("" : "+r"(i));
}

int operate(long round) {
  COZ_SCOPE("operation");
  COZ_SCOPE("the same on one line");
  work();
  if (round % 3 == 0) return 1;
  if (round % 3 == 1) throw std::runtime_error("as planned");
  work();
  return 0;
}

// The mark's name is that of its first visit; the first block to end has another.
void nest(int depth) {
  COZ_SCOPE(depth == 0 ? "outer" : "inner");
  if (depth == 0) nest(1);
}

}  // namespace

int main(int, char** arguments) {
  const Until end = until(arguments[1]);
  std::atomic<long> operations{0};
  const auto run = [&] {
    for (long round = 0; !is_over(&end); ++round, ++operations) {
      nest(0);
      try {
        operate(round);
      } catch (const std::runtime_error&) {
      }
      COZ_PROGRESS_NAMED("round");
    }
  };
  nest(0);  // before threads may race to name it
  std::thread other(run);
  run();
  other.join();
  std::printf("%ld\n", operations.load());
}
