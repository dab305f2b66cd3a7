// A pipeline with a stage for each thread, and a short queue before each; there are three kinds of
// stages, in turn.
#include <memory>
#include <thread>
#include <vector>

#include "bounded_queue.h"
#include "crowd.h"
#include "ground_truth.h"

namespace {

using ground_truth::varied;

ground_truth::Line read_line{"read", 300};
ground_truth::Line convert_line{"convert", 700};
ground_truth::Line check_line{"check", 500};

[[gnu::noinline]] void read() {
  for (long i = varied(read_line); i > 0; --i) asm volatile("" : "+r"(i));  // LINE read
}

[[gnu::noinline]] void convert() {
  for (long i = varied(convert_line); i > 0; --i) asm volatile("" : "+r"(i));  // LINE convert
}

[[gnu::noinline]] void check() {
  for (long i = varied(check_line); i > 0; --i) asm volatile("" : "+r"(i));  // LINE check
}

using Queue = ground_truth::BoundedQueue<int>;
std::vector<std::unique_ptr<Queue>> queues;  // behind each stage but the last

void work(int number) {
  const auto stage = static_cast<std::size_t>(number);
  for (;;) {
    if (stage > 0) queues[stage - 1]->pop();
    if (stage % 3 == 0) read();
    if (stage % 3 == 1) convert();
    if (stage % 3 == 2) check();
    if (stage < queues.size()) {
      queues[stage]->push(1);
      continue;
    }
    COZ_PROGRESS_NAMED("item");
    ground_truth::visit();
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = crowd::begin(argc, argv);
  for (int i = 1; i < threads; ++i) queues.push_back(std::make_unique<Queue>(4));
  crowd::run(threads, work);
}
