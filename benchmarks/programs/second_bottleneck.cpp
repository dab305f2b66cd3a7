// Two threads that wait for each other after each round, of 6 ms and of 5. Making `left` faster
// helps until the right thread is the last to arrive; from then on only both together help, and
// `right` alone never does: a pair, which no line by itself shows.
#include <pthread.h>
#include <thread>

#include "ground_truth.h"

namespace {

ground_truth::Line left_line{"left", 5400};
ground_truth::Line left_small1_line{"left_small1", 200};
ground_truth::Line left_small2_line{"left_small2", 400};
ground_truth::Line right_line{"right", 4500};
ground_truth::Line right_small1_line{"right_small1", 200};
ground_truth::Line right_small2_line{"right_small2", 300};

[[gnu::noinline]] void left() {
  for (long i = left_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE left
}

[[gnu::noinline]] void left_small1() {
  for (long i = left_small1_line.iterations; i > 0; --i)
    asm volatile("" : "+r"(i));  // LINE left_small1
}

[[gnu::noinline]] void left_small2() {
  for (long i = left_small2_line.iterations; i > 0; --i)
    asm volatile("" : "+r"(i));  // LINE left_small2
}

[[gnu::noinline]] void right() {
  for (long i = right_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE right
}

[[gnu::noinline]] void right_small1() {
  for (long i = right_small1_line.iterations; i > 0; --i)
    asm volatile("" : "+r"(i));  // LINE right_small1
}

[[gnu::noinline]] void right_small2() {
  for (long i = right_small2_line.iterations; i > 0; --i)
    asm volatile("" : "+r"(i));  // LINE right_small2
}

pthread_barrier_t barrier;

void run_left() {
  for (;;) {
    left_small1();
    left();
    left_small2();
    pthread_barrier_wait(&barrier);
    COZ_PROGRESS_NAMED("round");
    ground_truth::visit();
  }
}

void run_right() {
  for (;;) {
    right_small1();
    right();
    right_small2();
    pthread_barrier_wait(&barrier);
  }
}

}  // namespace

int main(int argc, char** argv) {
  ground_truth::begin(argc, argv);
  pthread_barrier_init(&barrier, nullptr, 2);
  std::thread left_thread(run_left);
  std::thread right_thread(run_right);
  left_thread.join();
  right_thread.join();
}
