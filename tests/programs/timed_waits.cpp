// Main waits with time-outs, by the means that the first argument names, beside a thread that
// computes in the marked line all the time. What main waits for does not depend on that line: a
// deadline that passes ("condition", "semaphore"), or, with longer time-outs, the answer of a
// thread that sleeps ("poll", "select", "epoll"). Ends after the seconds of the second argument.
#include <coz.h>
#include <poll.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>

namespace {

constexpr int kMicroseconds = 1000;
constexpr int kLonger = 5;  // time-outs for answers, in milliseconds

int requests[2];
int answers[2];

void compute() {
  for (;;) {
    for (long i = 0; i < 100'000; ++i) asm volatile("" : "+r"(i));
  }
}

void answer() {
  char byte;
  while (read(requests[0], &byte, 1) == 1) {
    usleep(kMicroseconds);
    if (write(answers[1], &byte, 1) != 1) abort();
  }
}

bool has_answer(const std::string& means, int epoll) {
  if (means == "poll") {
    pollfd file = {answers[0], POLLIN, 0};
    return poll(&file, 1, kLonger) > 0;
  }
  if (means == "epoll") {
    epoll_event event;
    return epoll_wait(epoll, &event, 1, kLonger) > 0;
  }
  fd_set files;
  FD_ZERO(&files);
  FD_SET(answers[0], &files);
  timeval time = {0, kLonger * 1000};
  return select(answers[0] + 1, &files, nullptr, nullptr, &time) > 0;
}

void wait_by(const std::string& means, int epoll) {
  static std::mutex mutex;
  static std::condition_variable never;
  static sem_t none;
  if (means == "condition") {
    std::unique_lock lock(mutex);
    never.wait_for(lock, std::chrono::microseconds(kMicroseconds));
    return;
  }
  if (means == "semaphore") {
    timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_nsec += kMicroseconds * 1000L;
    time.tv_sec += time.tv_nsec / 1'000'000'000;
    time.tv_nsec %= 1'000'000'000;
    sem_timedwait(&none, &time);
    return;
  }
  char byte = 'x';
  if (write(requests[1], &byte, 1) != 1) abort();
  while (!has_answer(means, epoll)) {
  }
  if (read(answers[0], &byte, 1) != 1) abort();
}

}  // namespace

int main(int, char** arguments) {
  const std::string means = arguments[1];
  if (pipe(requests) != 0 || pipe(answers) != 0) abort();
  const int epoll = epoll_create1(0);
  epoll_event input = {EPOLLIN, {}};
  epoll_ctl(epoll, EPOLL_CTL_ADD, answers[0], &input);
  std::thread(compute).detach();
  std::thread(answer).detach();
  const auto stop = std::chrono::steady_clock::now() +
                    std::chrono::milliseconds(static_cast<int>(std::atof(arguments[2]) * 1e3));
  while (std::chrono::steady_clock::now() < stop) {
    for (long i = 0; i < 300'000; ++i) asm volatile("" : "+r"(i));
    wait_by(means, epoll);
    COZ_PROGRESS_NAMED("turn");
  }
  _exit(0);
}
