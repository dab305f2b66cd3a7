// Five stages, one of them a pool of three threads; the third, of 4 ms an item, is at the limit.
#include "ground_truth.h"
#include "staged.h"

namespace {

ground_truth::Line limit_line{"limit", 5000};
ground_truth::Line next_line{"next", 400};

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
  staged::run({{1, 1000, other<400>},
               {2, 2000, other<500>},
               {1, 0, limit},
               {3, 5500, next},
               {1, 1000, other<500>}},
              ground_truth::long_queue(20), finished);
}
