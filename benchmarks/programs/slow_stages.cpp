// Stages of 12 to 30 ms an item, with queues of 20; the second is at the limit.
#include "ground_truth.h"
#include "staged.h"

namespace {

ground_truth::Line limit_line{"limit", 30000};
ground_truth::Line next_line{"next", 6000};

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
  staged::run({{1, 10000, other<2500>}, {1, 5000, limit}, {1, 16000, next}},
              ground_truth::long_queue(20), finished);
}
