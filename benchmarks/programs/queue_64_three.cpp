// Three stages with queues of 64 items; the second is the slowest, then the third, which waits for
// half of its time, so that two cores are enough.
#include <thread>

#include "bounded_queue.h"
#include "ground_truth.h"

namespace {

ground_truth::Line first_line{"first", 500};
ground_truth::Line second_line{"second", 2000};
ground_truth::Line third_line{"third", 600};

[[gnu::noinline]] void first() {
  for (long i = first_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE first
}

[[gnu::noinline]] void second() {
  for (long i = second_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE second
}

[[gnu::noinline]] void third() {
  for (long i = third_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE third
}

}  // namespace

int main(int argc, char** argv) {
  ground_truth::begin(argc, argv);
  ground_truth::BoundedQueue<int> to_second(ground_truth::long_queue(64));
  ground_truth::BoundedQueue<int> to_third(ground_truth::long_queue(64));
  std::thread first_stage([&] {
    for (;;) {
      first();
      to_second.push(1);
    }
  });
  std::thread second_stage([&] {
    for (;;) {
      to_second.pop();
      second();
      to_third.push(1);
    }
  });
  for (;;) {
    to_third.pop();
    ground_truth::sleep_microseconds(600);
    third();
    COZ_PROGRESS_NAMED("item");
    ground_truth::visit();
  }
}
