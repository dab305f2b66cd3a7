// Threads wait for input until another thread ends their waits by shutdown(), close(), or watching
// a file that is ready, while a third one runs the line that is sped up. Prints for each how long
// that took, in seconds.
#include <coz.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

namespace {

std::atomic<bool> is_over{false};

void compute() {
  while (!is_over) {
    for (int i = 0; i < 1'000'000; ++i) asm volatile("");  // LINE compute
    COZ_PROGRESS;
  }
}

// `wait` is in a thread of its own for a second, until `end` ends it.
template <typename Wait, typename End>
void measure(const char* name, Wait wait, End end) {
  std::thread waits(wait);
  std::this_thread::sleep_for(std::chrono::seconds(1));
  end();
  const auto begin = std::chrono::steady_clock::now();
  waits.join();
  const auto took = std::chrono::steady_clock::now() - begin;
  std::printf("%s %.3f\n", name, std::chrono::duration<double>(took).count());
}

}  // namespace

int main() {
  std::thread computes(compute);
  char byte = 0;

  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  if (listener < 0 || listen(listener, 1) != 0) return 1;
  measure(
      "accept", [&] { accept(listener, nullptr, nullptr); },
      [&] { shutdown(listener, SHUT_RDWR); });

  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return 1;
  measure("recv", [&] { recv(pair[0], &byte, 1, 0); }, [&] { close(pair[1]); });

  int ends[2];
  if (pipe(ends) != 0) return 1;
  measure("read", [&] { (void)!read(ends[0], &byte, 1); }, [&] { close(ends[1]); });

  int polled[2];
  if (pipe(polled) != 0) return 1;
  measure(
      "poll",
      [&] {
        pollfd file = {polled[0], POLLIN, 0};
        poll(&file, 1, -1);
      },
      [&] { close(polled[1]); });

  int ready[2];
  const int epoll = epoll_create1(0);
  if (pipe(ready) != 0 || write(ready[1], &byte, 1) != 1) return 1;
  measure(
      "epoll_wait",
      [&] {
        epoll_event event;
        epoll_wait(epoll, &event, 1, -1);
      },
      [&] {
        epoll_event input = {EPOLLIN, {}};
        epoll_ctl(epoll, EPOLL_CTL_ADD, ready[0], &input);
      });

  is_over = true;
  computes.join();
}
