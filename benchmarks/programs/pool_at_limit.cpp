// A pool of two threads, which wait more than they compute, is at the limit, behind a queue of 200
// items; then comes the first stage.
#include "ground_truth.h"
#include "staged.h"

namespace {

ground_truth::Line limit_line{"limit", 1800};
ground_truth::Line next_line{"next", 300};

[[gnu::noinline]] void limit() {
  for (long i = limit_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE limit
}

[[gnu::noinline]] void next() {
  for (long i = next_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE next
}

void finished(double) {
  COZ_PROGRESS_NAMED("item");
  ground_truth::visit();
}

}  // namespace

int main(int argc, char** argv) {
  ground_truth::begin(argc, argv);
  using staged::other;
  staged::run({{1, 650, next}, {2, 1600, limit}, {2, 1600, other<400>}, {1, 300, other<300>}},
              ground_truth::long_queue(200), finished);
}
