// One thread that does one thing after the other: each line's effect is its share of the time.
#include "ground_truth.h"

namespace {

ground_truth::Line major_line{"major", 650};
ground_truth::Line minor_line{"minor", 250};
ground_truth::Line small_line{"small", 100};

[[gnu::noinline]] void major() {
  for (long i = major_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE major
}

[[gnu::noinline]] void minor() {
  for (long i = minor_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE minor
}

[[gnu::noinline]] void small() {
  for (long i = small_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE small
}

}  // namespace

int main(int argc, char** argv) {
  ground_truth::begin(argc, argv);
  for (;;) {
    major();
    minor();
    small();
    COZ_PROGRESS_NAMED("iteration");
    ground_truth::visit();
  }
}
