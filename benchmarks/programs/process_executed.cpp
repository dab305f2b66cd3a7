// Two processes that take turns over a pair of sockets: one asks, the other answers. The one that
// asks has executed this program anew.
#include <sys/socket.h>

#include <string_view>

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

using ground_truth::receive_length;
using ground_truth::send_length;

[[noreturn]] void ask_for_ever(int end) {
  for (;;) {
    ask(receive_length(end));
    send_length(end, 0);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--ask") ask_for_ever(STDIN_FILENO);
  ground_truth::begin(argc, argv);
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    ground_truth::fail("no sockets for", "processes");
  }
  ground_truth::start_process([&] {
    dup2(ends[1], STDIN_FILENO);
    execl("/proc/self/exe", argv[0], "--ask", nullptr);
  });
  close(ends[1]);
  for (;;) {
    send_length(ends[0], ground_truth::varied(ask_line));
    receive_length(ends[0]);
    answer();
    COZ_PROGRESS_NAMED("answer");
    ground_truth::visit();
  }
}
