// A process for each request: the first process accepts it, and a child that lives for nothing else
// handles it.
#include <sys/wait.h>

#include "processes.h"

namespace {

ground_truth::Line accept_line{"accept", 500};
ground_truth::Line handle_line{"handle", 700};

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
    ground_truth::start_process(handle);
    if (wait(nullptr) < 0) ground_truth::fail("no child to", "wait for");
    COZ_PROGRESS_NAMED("request");
    ground_truth::visit();
  }
}
