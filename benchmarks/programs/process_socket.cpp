// Two processes that take turns over TCP: one asks, the other answers. Each waits for the other in
// poll().
#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>

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

class Loopback {
 public:
  Loopback() {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address_;
    auto* any = reinterpret_cast<sockaddr*>(&address_);
    if (bind(listener_, any, size) != 0 || listen(listener_, 1) != 0 ||
        getsockname(listener_, any, &size) != 0) {
      ground_truth::fail("no socket for", "processes");
    }
  }
  int accepted() const { return accept(listener_, nullptr, nullptr); }
  int connected() const {
    const int end = socket(AF_INET, SOCK_STREAM, 0);
    const auto* any = reinterpret_cast<const sockaddr*>(&address_);
    if (connect(end, any, sizeof address_) != 0) ground_truth::fail("no connection for", "asking");
    return end;
  }

 private:
  int listener_ = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address_{};
};

// Both end with the process if the other has ended.
void send_length(int end, long length) {
  if (send(end, &length, sizeof length, MSG_NOSIGNAL) != sizeof length) _exit(0);
}
long receive_length(int end) {
  pollfd input = {end, POLLIN, 0};
  poll(&input, 1, -1);
  long length = 0;
  if (recv(end, &length, sizeof length, 0) != sizeof length) _exit(0);
  return length;
}

}  // namespace

int main(int argc, char** argv) {
  ground_truth::begin(argc, argv);
  const Loopback loopback;
  ground_truth::start_process([&] {
    const int end = loopback.connected();
    for (;;) {
      ask(receive_length(end));
      send_length(end, 0);
    }
  });
  const int end = loopback.accepted();
  for (;;) {
    send_length(end, ground_truth::varied(ask_line));
    receive_length(end);
    answer();
    COZ_PROGRESS_NAMED("answer");
    ground_truth::visit();
  }
}
