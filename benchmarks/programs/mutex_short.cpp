// Two threads that share a mutex and hold it for a tenth of their time: critical sections that are
// short against the sampling period. Progress is marked every 16th time, about 2500 times a second.
#include <mutex>
#include <thread>

#include "ground_truth.h"

namespace {

ground_truth::Line inside_line{"inside", 5};
ground_truth::Line outside_line{"outside", 45};

[[gnu::noinline]] void inside() {
  const long length = ground_truth::varied(inside_line);
  for (long i = length; i > 0; --i) asm volatile("" : "+r"(i));  // LINE inside
}

[[gnu::noinline]] void outside() {
  const long length = ground_truth::varied(outside_line);
  for (long i = length; i > 0; --i) asm volatile("" : "+r"(i));  // LINE outside
}

std::mutex mutex;

void run() {
  for (;;) {
    for (int round = 0; round < 16; ++round) {
      mutex.lock();
      inside();
      mutex.unlock();
      outside();
    }
    COZ_PROGRESS_NAMED("round");
    ground_truth::visit();
  }
}

}  // namespace

int main(int argc, char** argv) {
  ground_truth::begin(argc, argv);
  std::thread one(run);
  std::thread other(run);
  one.join();
  other.join();
}
