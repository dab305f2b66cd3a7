// Two threads that meet at a barrier twice in each round. In the first part the left thread is the
// slower one, in the second the right: of the four lines two pay, until the other thread is the
// last to arrive.
#include <pthread.h>
#include <thread>

#include "ground_truth.h"

namespace {

ground_truth::Line left_first_line{"left_first", 600};
ground_truth::Line left_second_line{"left_second", 300};
ground_truth::Line right_first_line{"right_first", 400};
ground_truth::Line right_second_line{"right_second", 500};

[[gnu::noinline]] void left_first() {
  for (long i = left_first_line.iterations; i > 0; --i)
    asm volatile("" : "+r"(i));  // LINE left_first
}

[[gnu::noinline]] void left_second() {
  for (long i = left_second_line.iterations; i > 0; --i)
    asm volatile("" : "+r"(i));  // LINE left_second
}

[[gnu::noinline]] void right_first() {
  for (long i = right_first_line.iterations; i > 0; --i)
    asm volatile("" : "+r"(i));  // LINE right_first
}

[[gnu::noinline]] void right_second() {
  for (long i = right_second_line.iterations; i > 0; --i)
    asm volatile("" : "+r"(i));  // LINE right_second
}

pthread_barrier_t barrier;

void run_left() {
  for (;;) {
    left_first();
    pthread_barrier_wait(&barrier);
    left_second();
    pthread_barrier_wait(&barrier);
    COZ_PROGRESS_NAMED("round");
    ground_truth::visit();
  }
}

void run_right() {
  for (;;) {
    right_first();
    pthread_barrier_wait(&barrier);
    right_second();
    pthread_barrier_wait(&barrier);
  }
}

}  // namespace

int main(int argc, char** argv) {
  ground_truth::begin(argc, argv);
  pthread_barrier_init(&barrier, nullptr, 2);
  std::thread left(run_left);
  std::thread right(run_right);
  left.join();
  right.join();
}
