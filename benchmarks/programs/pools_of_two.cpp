// A thread at the limit of 10 ms an item, between pools of two threads; queues of 50 items.
#include "ground_truth.h"
#include "staged.h"

namespace {

ground_truth::Line limit_line{"limit", 12000};
ground_truth::Line next_line{"next", 1800};

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
  staged::run({{2, 3000, other<600>}, {1, 0, limit}, {2, 8000, next}}, ground_truth::long_queue(50),
              finished);
}
