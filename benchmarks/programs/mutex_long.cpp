// Two threads contend for a mutex that each holds for most of its time. What is done inside pays
// nearly in full; what is done outside is mostly done while the other thread has the mutex.
#include <mutex>
#include <thread>

#include "ground_truth.h"

namespace {

ground_truth::Line inside_line{"inside", 200};
ground_truth::Line outside_line{"outside", 30};

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
    mutex.lock();
    inside();
    mutex.unlock();
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
