// A thread that waits for the outside world, by the means that the argument names, beside one that
// computes in the marked line. The outside does not wait for the line: the thread owes all delays.
#include <coz.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace {

constexpr int kMicroseconds = 4000;
std::atomic<bool> end{false};

void compute() {
  while (!end) {
    for (long i = 0; i < 1'000'000; ++i) asm volatile("" : "+r"(i));
  }
}

// The two ends of a child process that answers each byte with one, 4 ms later.
struct Server {
  int request = -1;
  int answer = -1;
};

Server start_server() {
  int requests[2];
  int answers[2];
  if (pipe(requests) != 0 || pipe(answers) != 0) abort();
  if (fork() == 0) {
    close(requests[1]);  // so that reading ends when the program has ended
    char byte;
    while (read(requests[0], &byte, 1) == 1) {
      usleep(kMicroseconds);
      if (write(answers[1], &byte, 1) != 1) break;
    }
    _exit(0);
  }
  close(requests[0]);
  close(answers[1]);
  return {requests[1], answers[0]};
}

bool wait_by(const std::string& means, const Server& server, int epoll) {
  const timespec duration = {0, kMicroseconds * 1000L};
  if (means == "usleep") return usleep(kMicroseconds) == 0;
  if (means == "nanosleep") return nanosleep(&duration, nullptr) == 0;
  if (means == "poll") return poll(nullptr, 0, kMicroseconds / 1000) == 0;
  if (means == "select") {
    timeval time = {0, kMicroseconds};
    return select(0, nullptr, nullptr, nullptr, &time) == 0;
  }
  if (means == "epoll") {
    epoll_event event;
    return epoll_wait(epoll, &event, 1, kMicroseconds / 1000) == 0;
  }
  char byte = 'x';
  return write(server.request, &byte, 1) == 1 && read(server.answer, &byte, 1) == 1;
}

}  // namespace

int main(int, char** arguments) {
  const std::string means = arguments[1];
  const double seconds = std::atof(arguments[2]);
  const Server server = means == "read" ? start_server() : Server{};
  const int epoll = epoll_create1(0);
  std::thread computes(compute);
  const auto stop =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(static_cast<int>(seconds * 1e3));
  while (std::chrono::steady_clock::now() < stop) {
    if (!wait_by(means, server, epoll)) return 1;
    COZ_PROGRESS_NAMED("turn");
  }
  end = true;
  computes.join();
  return 0;
}
