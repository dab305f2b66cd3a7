// OpenMP: a serial part, then a parallel region of two unequal shares with a barrier inside. Who is
// done first spins until the other is.
#include <omp.h>

#include "ground_truth.h"

namespace {

ground_truth::Line serial_line{"serial", 250};
ground_truth::Line left_line{"left", 400};
ground_truth::Line right_line{"right", 250};
ground_truth::Line finish_line{"finish", 150};

[[gnu::noinline]] void serial() {
  for (long i = serial_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE serial
}

[[gnu::noinline]] void left() {
  for (long i = left_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE left
}

[[gnu::noinline]] void right() {
  for (long i = right_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE right
}

[[gnu::noinline]] void finish() {
  for (long i = finish_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE finish
}

}  // namespace

int main(int argc, char** argv) {
  ground_truth::begin(argc, argv);
  for (;;) {
    serial();
#pragma omp parallel num_threads(2)
    {
      if (omp_get_thread_num() == 0) {
        left();
      } else {
        right();
      }
#pragma omp barrier
      if (omp_get_thread_num() == 1) finish();
    }
    COZ_PROGRESS_NAMED("round");
    ground_truth::visit();
  }
}
