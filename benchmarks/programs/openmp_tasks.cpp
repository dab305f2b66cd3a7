// OpenMP's tasks: a serial part; then one thread makes eight short tasks and a long one, which both
// run, and combines their results.
#include "ground_truth.h"

namespace {

ground_truth::Line serial_line{"serial", 200};
ground_truth::Line short_line{"short", 60};
ground_truth::Line long_line{"long", 250};
ground_truth::Line combine_line{"combine", 100};

[[gnu::noinline]] void serial() {
  for (long i = serial_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE serial
}

[[gnu::noinline]] void short_task() {
  for (long i = short_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE short
}

[[gnu::noinline]] void long_task() {
  for (long i = long_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE long
}

[[gnu::noinline]] void combine() {
  for (long i = combine_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE combine
}

}  // namespace

int main(int argc, char** argv) {
  ground_truth::begin(argc, argv);
  for (;;) {
    serial();
#pragma omp parallel num_threads(2)
#pragma omp single
    {
      for (int i = 0; i < 8; ++i) {
#pragma omp task
        short_task();
      }
#pragma omp task
      long_task();
#pragma omp taskwait
      combine();
    }
    COZ_PROGRESS_NAMED("round");
    ground_truth::visit();
  }
}
