// Three stages, the last a pool of two threads, with queues of 12 items, and the latency of an item
// from its entry into the first queue to its end. The second stage, of 4 ms an item, is at the
// limit: its queue is full. At 75 % it is faster than the pool: then both queues are.
#include "ground_truth.h"
#include "staged.h"

namespace {

ground_truth::Line limit_line{"limit", 4000};
ground_truth::Line next_line{"next", 400};

[[gnu::noinline]] void limit() {
  for (long i = limit_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE limit
}

[[gnu::noinline]] void next() {
  for (long i = next_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE next
}

void entering() { COZ_BEGIN("item"); }

void finished(double entered) {
  COZ_END("item");
  ground_truth::visit(entered);
}

}  // namespace

int main(int argc, char** argv) {
  ground_truth::begin(argc, argv);
  using staged::other;
  staged::run({{1, 300, other<400>}, {1, 0, limit}, {2, 1900, next}}, 12, finished, entering);
}
