// Two threads that wait for each other after each round, of 6 ms and of 5. Making `left` faster
// helps until the right thread is the last to arrive; from then on only both together help, and
// `right` alone never does: a pair, which no line by itself shows.
#include <pthread.h>
#include <thread>

#include "ground_truth.h"

namespace {

ground_truth::Line left_line{"left", 5400};
ground_truth::Line left_a_line{"left_a", 200};
ground_truth::Line left_b_line{"left_b", 400};
ground_truth::Line right_line{"right", 4500};
ground_truth::Line right_a_line{"right_a", 200};
ground_truth::Line right_b_line{"right_b", 300};

[[gnu::noinline]] void left() {
  for (long i = left_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE left
}

[[gnu::noinline]] void left_a() {
  for (long i = left_a_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE left_a
}

[[gnu::noinline]] void left_b() {
  for (long i = left_b_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE left_b
}

[[gnu::noinline]] void right() {
  for (long i = right_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE right
}

[[gnu::noinline]] void right_a() {
  for (long i = right_a_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE right_a
}

[[gnu::noinline]] void right_b() {
  for (long i = right_b_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE right_b
}

pthread_barrier_t barrier;

void run_left() {
  for (;;) {
    left_a();
    left();
    left_b();
    pthread_barrier_wait(&barrier);
    COZ_PROGRESS_NAMED("round");
    ground_truth::visit();
  }
}

void run_right() {
  for (;;) {
    right_a();
    right();
    right_b();
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
