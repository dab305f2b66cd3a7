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

#include <algorithm>
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

void expect(bool holds) {
  if (!holds) abort();
}

// Another file is never ready.
bool has_answer(const std::string& means, int epoll) {
  static const int never = [] {
    int ends[2];
    expect(pipe(ends) == 0);
    return ends[0];
  }();
  if (means == "poll") {
    pollfd files[] = {{never, POLLIN, 0}, {answers[0], POLLIN, 0}};
    const int ready = poll(files, 2, kLonger);
    expect(ready == (files[1].revents == POLLIN ? 1 : 0) && files[0].revents == 0);
    return ready > 0;
  }
  if (means == "epoll") {
    epoll_event event;
    return epoll_wait(epoll, &event, 1, kLonger) > 0;
  }
  fd_set files;
  FD_ZERO(&files);
  FD_SET(answers[0], &files);
  FD_SET(never, &files);
  timeval time = {0, kLonger * 1000};
  const int ready = select(std::max(never, answers[0]) + 1, &files, nullptr, nullptr, &time);
  expect(ready == (FD_ISSET(answers[0], &files) ? 1 : 0) && !FD_ISSET(never, &files));
  return ready > 0;
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
  expect(write(requests[1], &byte, 1) == 1);
  while (!has_answer(means, epoll)) {
  }
  expect(read(answers[0], &byte, 1) == 1);
}

}  // namespace

int main(int, char** arguments) {
  const std::string means = arguments[1];
  expect(pipe(requests) == 0 && pipe(answers) == 0);
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
