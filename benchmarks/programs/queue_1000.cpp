// Two stages with a queue of 1,000 items between them, which takes many windows to fill or drain.
#include <thread>

#include "bounded_queue.h"
#include "ground_truth.h"

namespace {

ground_truth::Line first_line{"first", 600};
ground_truth::Line second_line{"second", 1000};

[[gnu::noinline]] void first() {
  for (long i = first_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE first
}

[[gnu::noinline]] void second() {
  for (long i = second_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE second
}

}  // namespace

int main(int argc, char** argv) {
  ground_truth::begin(argc, argv);
  ground_truth::BoundedQueue<int> queue(ground_truth::long_queue(1000));
  std::thread stage([&] {
    for (;;) {
      first();
      queue.push(1);
    }
  });
  for (;;) {
    queue.pop();
    second();
    COZ_PROGRESS_NAMED("item");
    ground_truth::visit();
  }
}
