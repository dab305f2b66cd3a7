// Two threads that never wait for each other make visits at different rates, and keep both
// processors busy. As a line of one thread becomes faster, more of all visits are that thread's:
// the effect on their common rate is not in proportion to the line's share of the time.
#include <thread>

#include "ground_truth.h"

namespace {

ground_truth::Line often_line{"often", 400};
ground_truth::Line seldom_line{"seldom", 900};
ground_truth::Line both_line{"both", 150};

[[gnu::noinline]] void often() {
  const long length = ground_truth::varied(often_line);
  for (long i = length; i > 0; --i) asm volatile("" : "+r"(i));  // LINE often
}

[[gnu::noinline]] void seldom() {
  const long length = ground_truth::varied(seldom_line);
  for (long i = length; i > 0; --i) asm volatile("" : "+r"(i));  // LINE seldom
}

[[gnu::noinline]] void both() {
  const long length = ground_truth::varied(both_line);
  for (long i = length; i > 0; --i) asm volatile("" : "+r"(i));  // LINE both
}

void run(void (*own)()) {
  for (;;) {
    own();
    both();
    COZ_PROGRESS_NAMED("unit");
    ground_truth::visit();
  }
}

}  // namespace

int main(int argc, char** argv) {
  ground_truth::begin(argc, argv);
  std::thread one(run, often);
  std::thread other(run, seldom);
  one.join();
  other.join();
}
