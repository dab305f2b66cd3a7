// A thread for each request, of half a sampling period: main accepts it, and a thread that lives
// for nothing else handles it.
#include <thread>

#include "ground_truth.h"

namespace {

ground_truth::Line accept_line{"accept", 500};
ground_truth::Line handle_line{"handle", 500};

[[gnu::noinline]] void accept() {
  const long length = ground_truth::varied(accept_line);
  for (long i = length; i > 0; --i) asm volatile("" : "+r"(i));  // LINE accept
}

[[gnu::noinline]] void handle() {
  const long length = handle_line.iterations;
  for (long i = length; i > 0; --i) asm volatile("" : "+r"(i));  // LINE handle
}

}  // namespace

int main(int argc, char** argv) {
  ground_truth::begin(argc, argv);
  for (;;) {
    accept();
    std::thread(handle).join();
    COZ_PROGRESS_NAMED("round");
    ground_truth::visit();
  }
}
