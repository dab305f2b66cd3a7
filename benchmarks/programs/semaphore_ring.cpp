// Three threads in a ring pass two tokens on by semaphores, so that two are busy at most. A round
// takes half of what all three need together, or what the slowest needs if that is more: all lines
// pay, up to a point. Times are long beside those of waking a thread: with a quarter of them, the
// scheduler at times keeps all three on one processor, and a line that is made faster does that or
// not.
#include <semaphore.h>
#include <thread>

#include "ground_truth.h"

namespace {

ground_truth::Line first_line{"first", 1200};
ground_truth::Line second_line{"second", 800};
ground_truth::Line third_line{"third", 600};

[[gnu::noinline]] void first() {
  for (long i = first_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE first
}

[[gnu::noinline]] void second() {
  for (long i = second_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE second
}

[[gnu::noinline]] void third() {
  for (long i = third_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE third
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
    third();
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
