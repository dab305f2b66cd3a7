// Two threads that meet at a barrier twice in each round. In the first part the left thread is the
// slower one, in the second the right: of the four lines two pay, until the other thread is the
// last to arrive.
#include <pthread.h>
#include <thread>

#include "ground_truth.h"

namespace {

ground_truth::Line left1_line{"left1", 600};
ground_truth::Line left2_line{"left2", 300};
ground_truth::Line right1_line{"right1", 400};
ground_truth::Line right2_line{"right2", 500};

[[gnu::noinline]] void left1() {
  for (long i = left1_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE left1
}

[[gnu::noinline]] void left2() {
  for (long i = left2_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE left2
}

[[gnu::noinline]] void right1() {
  for (long i = right1_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE right1
}

[[gnu::noinline]] void right2() {
  for (long i = right2_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE right2
}

pthread_barrier_t barrier;

void run_left() {
  for (;;) {
    left1();
    pthread_barrier_wait(&barrier);
    left2();
    pthread_barrier_wait(&barrier);
    COZ_PROGRESS_NAMED("round");
    ground_truth::visit();
  }
}

void run_right() {
  for (;;) {
    right1();
    pthread_barrier_wait(&barrier);
    right2();
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
