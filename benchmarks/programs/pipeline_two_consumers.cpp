// One producer and two consumers at a bounded queue. The producer is the slowest, and the consumers
// together have less to do than one processor can, at every speedup of 75 % or less: two threads
// are busy, not three.
#include <thread>

#include "bounded_queue.h"
#include "ground_truth.h"

namespace {

ground_truth::Line produce_line{"produce", 450};
ground_truth::Line prepare_line{"prepare", 150};
ground_truth::Line consume_line{"consume", 200};

[[gnu::noinline]] void produce() {
  for (long i = produce_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE produce
}

[[gnu::noinline]] void prepare() {
  for (long i = prepare_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE prepare
}

[[gnu::noinline]] void consume() {
  for (long i = consume_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE consume
}

ground_truth::BoundedQueue<int> queue(16);

void run_producer() {
  for (;;) {
    produce();
    prepare();
    queue.push(1);
  }
}

void run_consumer() {
  for (;;) {
    queue.pop();
    consume();
    COZ_PROGRESS_NAMED("item");
    ground_truth::visit();
  }
}

}  // namespace

int main(int argc, char** argv) {
  ground_truth::begin(argc, argv);
  std::thread producer(run_producer);
  std::thread one(run_consumer);
  std::thread other(run_consumer);
  producer.join();
  one.join();
  other.join();
}
