// Threads that compute, and take a lock for a while.
#include <mutex>
#include <thread>

#include "crowd.h"
#include "ground_truth.h"

namespace {

using ground_truth::varied;

ground_truth::Line prepare_line{"prepare", 900};
ground_truth::Line compute_line{"compute", 600};
ground_truth::Line section_line{"section", 100};

[[gnu::noinline]] void prepare() {
  for (long i = varied(prepare_line); i > 0; --i) asm volatile("" : "+r"(i));  // LINE prepare
}

[[gnu::noinline]] void compute() {
  for (long i = varied(compute_line); i > 0; --i) asm volatile("" : "+r"(i));  // LINE compute
}

[[gnu::noinline]] void section() {
  for (long i = varied(section_line); i > 0; --i) asm volatile("" : "+r"(i));  // LINE section
}

std::mutex mutex;

void work(int) {
  for (;;) {
    prepare();
    compute();
    {
      const std::lock_guard lock(mutex);
      section();
    }
    COZ_PROGRESS_NAMED("round");
    ground_truth::visit();
  }
}

}  // namespace

int main(int argc, char** argv) { crowd::run(crowd::begin(argc, argv), work); }
