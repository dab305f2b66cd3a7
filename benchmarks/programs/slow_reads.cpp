// In each round one thread reads a block from a fast device and computes, while the other reads
// from a slow device and checks what it has read. Computing keeps the first thread behind: fast
// reads pay, and slow ones, for which the program waits longest, do not.
//
// With `--blocks 2`, first of the arguments, the second thread reads two blocks in each round, and
// is behind: slow reads pay until the first thread is the one behind, and fast ones do not.
#include <pthread.h>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "device.h"

namespace {

ground_truth::Line compute_line{"compute", 700};
ground_truth::Line check_line{"check", 100};
ground_truth::Line fast_line{"fast", 400};
ground_truth::Line slow_line{"slow", 700};

[[gnu::noinline]] void compute() {
  const long length = ground_truth::varied(compute_line);
  for (long i = length; i > 0; --i) asm volatile("" : "+r"(i));  // LINE compute
}

[[gnu::noinline]] void check() {
  const long length = ground_truth::varied(check_line);
  for (long i = length; i > 0; --i) asm volatile("" : "+r"(i));  // LINE check
}

ground_truth::Device fast_device(1), slow_device(1);
pthread_barrier_t barrier;
int blocks = 1;

void run_fast() {
  ground_truth::stay_on_processor(0);
  for (;;) {
    const timespec done = fast_device.request(ground_truth::seconds_of(fast_line));
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &done, nullptr);  // WAIT fast
    compute();
    pthread_barrier_wait(&barrier);
    COZ_PROGRESS_NAMED("round");
    ground_truth::visit();
  }
}

void run_slow() {
  ground_truth::stay_on_processor(1);
  for (;;) {
    for (int i = 0; i < blocks; ++i) {
      const timespec done = slow_device.request(ground_truth::seconds_of(slow_line));
      clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &done, nullptr);  // WAIT slow
    }
    check();
    pthread_barrier_wait(&barrier);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2 && std::strcmp(argv[1], "--blocks") == 0) {
    blocks = std::atoi(argv[2]);
    argc -= 2;
    argv += 2;
  }
  ground_truth::begin(argc, argv);
  pthread_barrier_init(&barrier, nullptr, 2);
  std::thread fast(run_fast);
  std::thread slow(run_slow);
  fast.join();
  slow.join();
}
