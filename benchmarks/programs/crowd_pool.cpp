// A thread hands out work to all others, which do two things with each piece: where there are fewer
// cores than threads, each line pays by its share of the work.
#include <thread>

#include "bounded_queue.h"
#include "crowd.h"
#include "ground_truth.h"

namespace {

using ground_truth::varied;

ground_truth::Line hand_out_line{"hand_out", 100};
ground_truth::Line parse_line{"parse", 400};
ground_truth::Line render_line{"render", 800};

[[gnu::noinline]] void hand_out() {
  for (long i = varied(hand_out_line); i > 0; --i) asm volatile("" : "+r"(i));  // LINE hand_out
}

[[gnu::noinline]] void parse() {
  for (long i = varied(parse_line); i > 0; --i) asm volatile("" : "+r"(i));  // LINE parse
}

[[gnu::noinline]] void render() {
  for (long i = varied(render_line); i > 0; --i) asm volatile("" : "+r"(i));  // LINE render
}

ground_truth::BoundedQueue<int> queue(8);

void work(int number) {
  for (;;) {
    if (number == 0) {
      hand_out();
      queue.push(1);
    } else {
      queue.pop();
      parse();
      render();
      COZ_PROGRESS_NAMED("piece");
      ground_truth::visit();
    }
  }
}

}  // namespace

int main(int argc, char** argv) { crowd::run(crowd::begin(argc, argv), work); }
