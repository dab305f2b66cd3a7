// Threads that compute, wait for input of 1.5 ms (a sleep stands in for it), and compute on.
#include <thread>

#include "crowd.h"
#include "ground_truth.h"

namespace {

using ground_truth::varied;

ground_truth::Line ask_line{"ask", 300};
ground_truth::Line answer_line{"answer", 700};

[[gnu::noinline]] void ask() {
  for (long i = varied(ask_line); i > 0; --i) asm volatile("" : "+r"(i));  // LINE ask
}

[[gnu::noinline]] void answer() {
  for (long i = varied(answer_line); i > 0; --i) asm volatile("" : "+r"(i));  // LINE answer
}

void work(int) {
  for (;;) {
    ask();
    ground_truth::sleep_microseconds(1500);
    answer();
    COZ_PROGRESS_NAMED("request");
    ground_truth::visit();
  }
}

}  // namespace

int main(int argc, char** argv) { crowd::run(crowd::begin(argc, argv), work); }
