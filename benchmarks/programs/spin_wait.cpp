// Two threads in rounds; who is done first spins until the other is. The slower thread's lines pay
// until the other is slower, the other's line does not, although its thread is always busy.
#include <atomic>
#include <thread>

#include "ground_truth.h"

namespace {

ground_truth::Line left_line{"left", 350};
ground_truth::Line finish_line{"finish", 150};
ground_truth::Line right_line{"right", 350};

[[gnu::noinline]] void left() {
  for (long i = left_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE left
}

[[gnu::noinline]] void finish() {
  for (long i = finish_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE finish
}

[[gnu::noinline]] void right() {
  for (long i = right_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE right
}

std::atomic<long> left_rounds{0};
std::atomic<long> right_rounds{0};

void spin(const std::atomic<long>& rounds, long least) {
  while (rounds < least) __builtin_ia32_pause();
}

void run_left() {
  for (long round = 1;; ++round) {
    left();
    finish();
    left_rounds = round;
    spin(right_rounds, round);
    COZ_PROGRESS_NAMED("round");
    ground_truth::visit();
  }
}

void run_right() {
  for (long round = 1;; ++round) {
    right();
    right_rounds = round;
    spin(left_rounds, round);
  }
}

}  // namespace

int main(int argc, char** argv) {
  ground_truth::begin(argc, argv);
  std::thread one(run_left);
  std::thread other(run_right);
  one.join();
  other.join();
}
