// A producer and a consumer with a bounded queue between them. The consumer is the slower one, so
// that its lines pay until the producer is (at 36 %), and the producer's line does not.
#include <thread>

#include "bounded_queue.h"
#include "ground_truth.h"

namespace {

ground_truth::Line produce_line{"produce", 320};
ground_truth::Line consume_line{"consume", 400};
ground_truth::Line store_line{"store", 100};

[[gnu::noinline]] void produce() {
  for (long i = produce_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE produce
}

[[gnu::noinline]] void consume() {
  for (long i = consume_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE consume
}

[[gnu::noinline]] void store() {
  for (long i = store_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE store
}

ground_truth::BoundedQueue<int> queue(16);

void run_producer() {
  for (;;) {
    produce();
    queue.push(1);
  }
}

void run_consumer() {
  for (;;) {
    queue.pop();
    consume();
    store();
    COZ_PROGRESS_NAMED("item");
    ground_truth::visit();
  }
}

}  // namespace

int main(int argc, char** argv) {
  ground_truth::begin(argc, argv);
  std::thread producer(run_producer);
  std::thread consumer(run_consumer);
  producer.join();
  consumer.join();
}
