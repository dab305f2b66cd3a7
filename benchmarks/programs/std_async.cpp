// A task of two sampling periods by std::async, for which main waits.
#include <future>

#include "ground_truth.h"

namespace {

ground_truth::Line accept_line{"accept", 2000};
ground_truth::Line handle_line{"handle", 2000};

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
    std::async(std::launch::async, handle).wait();
    COZ_PROGRESS_NAMED("round");
    ground_truth::visit();
  }
}
