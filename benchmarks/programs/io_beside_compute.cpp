// One thread fetches blocks, 0.6 ms of input (a sleep stands in for it) and a little decoding,
// while another computes on the block before. Computing is the slower part; its lines pay until
// input is, and decoding does not.
#include <thread>

#include "bounded_queue.h"
#include "ground_truth.h"

namespace {

ground_truth::Line decode_line{"decode", 100};
ground_truth::Line compute_line{"compute", 700};
ground_truth::Line sum_line{"sum", 200};

[[gnu::noinline]] void decode() {
  for (long i = decode_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE decode
}

[[gnu::noinline]] void compute() {
  for (long i = compute_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE compute
}

[[gnu::noinline]] void sum() {
  for (long i = sum_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE sum
}

ground_truth::BoundedQueue<int> queue(1);

void run_input() {
  for (;;) {
    ground_truth::sleep_microseconds(600);
    decode();
    queue.push(1);
  }
}

void run_compute() {
  for (;;) {
    queue.pop();
    compute();
    sum();
    COZ_PROGRESS_NAMED("block");
    ground_truth::visit();
  }
}

}  // namespace

int main(int argc, char** argv) {
  ground_truth::begin(argc, argv);
  std::thread input(run_input);
  std::thread computation(run_compute);
  input.join();
  computation.join();
}
