// Two threads that meet at a std::barrier each round, whose arrivals no call shows. The left thread
// is the slower one: its first line pays until 37.5 %, its second always; the right line never
// pays.
#include <barrier>
#include <thread>

#include "ground_truth.h"

namespace {

ground_truth::Line first_line{"first", 800};
ground_truth::Line second_line{"second", 200};
ground_truth::Line right_line{"right", 700};

[[gnu::noinline]] void first() {
  for (long i = first_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE first
}

[[gnu::noinline]] void second() {
  for (long i = second_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE second
}

[[gnu::noinline]] void right() {
  for (long i = right_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE right
}

std::barrier<> barrier{2};

void run_left() {
  for (;;) {
    first();
    second();
    barrier.arrive_and_wait();
    COZ_PROGRESS_NAMED("round");
    ground_truth::visit();
  }
}

void run_right() {
  for (;;) {
    right();
    barrier.arrive_and_wait();
  }
}

}  // namespace

int main(int argc, char** argv) {
  ground_truth::begin(argc, argv);
  std::thread left(run_left);
  std::thread right(run_right);
  left.join();
  right.join();
}
