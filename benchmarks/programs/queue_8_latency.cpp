// Two stages with a queue of 8 items between them, and the latency of an item from the queue's
// entry until the second stage is done with it. While the second stage is the slower one, the queue
// is full; beyond that it is empty, and latency is the second stage's own time.
#include <thread>

#include "bounded_queue.h"
#include "ground_truth.h"

namespace {

ground_truth::Line first_line{"first", 1200};
ground_truth::Line second_line{"second", 2000};

[[gnu::noinline]] void first() {
  for (long i = first_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE first
}

[[gnu::noinline]] void second() {
  for (long i = second_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE second
}

}  // namespace

int main(int argc, char** argv) {
  ground_truth::begin(argc, argv);
  ground_truth::BoundedQueue<double> queue(8);
  std::thread stage([&] {
    for (;;) {
      first();
      COZ_BEGIN("item");
      queue.push(ground_truth::now());
    }
  });
  for (;;) {
    const double start = queue.pop();
    second();
    COZ_END("item");
    ground_truth::visit(start);
  }
}
