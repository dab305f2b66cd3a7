// The two threads of the dissertation (figure 5.1): each round starts a() with 6.7 parts of work
// and b() with 6.4, and ends when both have ended. Beyond 4.5 % nothing is gained by a(), and
// nothing at all by b().
#include <thread>

#include "ground_truth.h"

namespace {

ground_truth::Line a_line{"a", 6700};
ground_truth::Line b_line{"b", 6400};

[[gnu::noinline]] void a() {
  for (long i = a_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE a
}

[[gnu::noinline]] void b() {
  for (long i = b_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE b
}

}  // namespace

int main(int argc, char** argv) {
  ground_truth::begin(argc, argv);
  for (;;) {
    std::thread a_thread(a);
    std::thread b_thread(b);
    a_thread.join();
    b_thread.join();
    COZ_PROGRESS_NAMED("round");
    ground_truth::visit();
  }
}
