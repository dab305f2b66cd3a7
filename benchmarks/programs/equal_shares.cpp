// Two threads share the work of each round: both run the same two lines between barriers, for a few
// milliseconds. Each line pays in proportion to its share of a round.
#include <pthread.h>
#include <thread>

#include "ground_truth.h"

namespace {

ground_truth::Line first_line{"first", 1300};
ground_truth::Line second_line{"second", 1900};

[[gnu::noinline]] void first() {
  const long length = ground_truth::varied(first_line);
  for (long i = length; i > 0; --i) asm volatile("" : "+r"(i));  // LINE first
}

[[gnu::noinline]] void second() {
  const long length = ground_truth::varied(second_line);
  for (long i = length; i > 0; --i) asm volatile("" : "+r"(i));  // LINE second
}

pthread_barrier_t barrier;

void work() {
  first();
  second();
  pthread_barrier_wait(&barrier);
}

void run_other() {
  for (;;) work();
}

void run() {
  for (;;) {
    work();
    COZ_PROGRESS_NAMED("round");
    ground_truth::visit();
  }
}

}  // namespace

int main(int argc, char** argv) {
  ground_truth::begin(argc, argv);
  pthread_barrier_init(&barrier, nullptr, 2);
  std::thread one(run);
  std::thread other(run_other);
  one.join();
  other.join();
}
