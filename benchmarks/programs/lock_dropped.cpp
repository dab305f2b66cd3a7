// Two threads work under one mutex that protects nothing, and for as long outside. Without the
// mutex (100 %), neither waits.
#include <mutex>
#include <thread>

#include "ground_truth.h"

namespace {

ground_truth::Line inside_line{"inside", 300};
ground_truth::Line outside_line{"outside", 300};
ground_truth::Line lock_line{"lock", 1};

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
    const bool locks = lock_line.iterations > 0;
    if (locks) mutex.lock();  // LOCK lock
    inside();
    if (locks) mutex.unlock();
    outside();
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
