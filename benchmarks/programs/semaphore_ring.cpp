// Three threads in a ring pass two tokens on by semaphores. A round takes half of what all three
// need together, or what the slowest needs if that is more: all lines pay, up to a point. The third
// waits as for a device, so that there is a processor for each of the other two: with three that
// compute, the scheduler keeps all on one processor at times, and whether it does depends on how
// long the lines are. Times are long beside those of waking a thread.
#include <semaphore.h>
#include <time.h>

#include <thread>

#include "ground_truth.h"

namespace {

ground_truth::Line first_line{"first", 1200};
ground_truth::Line second_line{"second", 800};
constexpr timespec device_time{0, 600'000};

[[gnu::noinline]] void first() {
  for (long i = first_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE first
}

[[gnu::noinline]] void second() {
  for (long i = second_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE second
}

sem_t first_tokens;
sem_t second_tokens;
sem_t third_tokens;

void run_first() {
  for (;;) {
    sem_wait(&first_tokens);
    first();
    sem_post(&second_tokens);
  }
}

void run_second() {
  for (;;) {
    sem_wait(&second_tokens);
    second();
    sem_post(&third_tokens);
  }
}

void run_third() {
  for (;;) {
    sem_wait(&third_tokens);
    clock_nanosleep(CLOCK_MONOTONIC, 0, &device_time, nullptr);
    COZ_PROGRESS_NAMED("token");
    ground_truth::visit();
    sem_post(&first_tokens);
  }
}

}  // namespace

int main(int argc, char** argv) {
  ground_truth::begin(argc, argv);
  sem_init(&first_tokens, 0, 2);
  sem_init(&second_tokens, 0, 0);
  sem_init(&third_tokens, 0, 0);
  std::thread one(run_first);
  std::thread two(run_second);
  std::thread three(run_third);
  one.join();
  two.join();
  three.join();
}
