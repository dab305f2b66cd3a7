// Six threads read blocks from a device that serves four requests at a time, and handle them.
#include <thread>
#include <vector>

#include "device.h"

namespace {

ground_truth::Line handle_line{"handle", 500};
ground_truth::Line read_line{"read", 4000};

[[gnu::noinline]] void handle() {
  const long length = ground_truth::varied(handle_line);
  for (long i = length; i > 0; --i) asm volatile("" : "+r"(i));  // LINE handle
}

ground_truth::Device device(4);

void run() {
  for (;;) {
    const timespec done = device.request(ground_truth::seconds_of(read_line));
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &done, nullptr);  // WAIT read
    handle();
    COZ_PROGRESS_NAMED("block");
    ground_truth::visit();
  }
}

}  // namespace

int main(int argc, char** argv) {
  ground_truth::begin(argc, argv);
  std::vector<std::thread> threads(6);
  for (std::thread& thread : threads) thread = std::thread(run);
  for (std::thread& thread : threads) thread.join();
}
