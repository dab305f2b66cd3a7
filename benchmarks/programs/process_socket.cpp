// Two processes that take turns over TCP: one asks, the other answers. Each waits for the other in
// poll().
#include <poll.h>
#include <sys/socket.h>

#include "../../tests/programs/loopback.h"
#include "processes.h"

namespace {

ground_truth::Line ask_line{"ask", 150};
ground_truth::Line answer_line{"answer", 200};

[[gnu::noinline]] void ask(long length) {
  for (long i = length; i > 0; --i) asm volatile("" : "+r"(i));  // LINE ask
}

[[gnu::noinline]] void answer() {
  const long length = ground_truth::varied(answer_line);
  for (long i = length; i > 0; --i) asm volatile("" : "+r"(i));  // LINE answer
}

long receive_length(int end) {
  pollfd input = {end, POLLIN, 0};
  poll(&input, 1, -1);
  return ground_truth::receive_length(end);
}

}  // namespace

int main(int argc, char** argv) {
  ground_truth::begin(argc, argv);
  const Loopback loopback;
  ground_truth::start_process([&] {
    const int end = loopback.connect_to();
    for (;;) {
      ask(receive_length(end));
      ground_truth::send_length(end, 0);
    }
  });
  const int end = loopback.accept_one();
  for (;;) {
    ground_truth::send_length(end, ground_truth::varied(ask_line));
    receive_length(end);
    answer();
    COZ_PROGRESS_NAMED("answer");
    ground_truth::visit();
  }
}
