// Two processes, each with its own core, that are stages of a pipeline: a pipe holds eight items
// between them, and the second stage is the slower one.
#include "processes.h"

namespace {

ground_truth::Line produce_line{"produce", 100};
ground_truth::Line consume_line{"consume", 150};

[[gnu::noinline]] void produce(long length) {
  for (long i = length; i > 0; --i) asm volatile("" : "+r"(i));  // LINE produce
}

[[gnu::noinline]] void consume() {
  const long length = ground_truth::varied(consume_line);
  for (long i = length; i > 0; --i) asm volatile("" : "+r"(i));  // LINE consume
}

}  // namespace

int main(int argc, char** argv) {
  ground_truth::begin(argc, argv);
  auto& length = ground_truth::shared<std::atomic<long>>();
  length = ground_truth::varied(produce_line);
  const ground_truth::Pipe items;
  ground_truth::start_process([&] {
    items.only_send();
    for (;;) {
      produce(length);
      items.send(0);
    }
  });
  items.only_receive();
  for (;;) {
    items.receive();
    consume();
    length = ground_truth::varied(produce_line);
    COZ_PROGRESS_NAMED("item");
    ground_truth::visit();
  }
}
