// Two phases of about two seconds that alternate, with a line of its own each and one that both
// run; items of the second phase are shorter. What a line gains in its phase counts for the whole
// run by that phase's share.
//
// Runs shorter than 80 s have shorter phases, twenty of each, and slices much shorter ones. The
// program ends at the end of a second phase.
#include <algorithm>

#include "ground_truth.h"

namespace {

ground_truth::Line first_line{"first", 750};
ground_truth::Line second_line{"second", 550};
ground_truth::Line common_line{"common", 250};

[[gnu::noinline]] void first() {
  for (long i = first_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE first
}

[[gnu::noinline]] void second() {
  for (long i = second_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE second
}

[[gnu::noinline]] void common() {
  for (long i = common_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE common
}

void run_first_phase(int items) {
  for (int item = 0; item < items; ++item) {
    first();
    common();
    COZ_PROGRESS_NAMED("item");
    ground_truth::count_visit();
  }
}

void run_second_phase(int items) {
  for (int item = 0; item < items; ++item) {
    second();
    common();
    COZ_PROGRESS_NAMED("item");
    ground_truth::count_visit();
  }
}

}  // namespace

int main(int argc, char** argv) {
  ground_truth::begin(argc, argv);
  // There is no start-up here, and whole phases are to be counted.
  ground_truth::begin_time = 0;
  double phase = std::min(2.0, ground_truth::run_seconds / 40);
  if (ground_truth::slices) phase = 0.004;  // many in each slice
  do {
    run_first_phase(static_cast<int>(1000 * phase));
    run_second_phase(static_cast<int>(1250 * phase));
  } while (ground_truth::now() < ground_truth::end_time);
  ground_truth::finish();
}
