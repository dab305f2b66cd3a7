// An event loop and a worker, as in libuv: the loop hands five requests over through a queue, and
// sleeps at an epoll file until an eventfd says that some are done. While the loop is busy, done
// requests gather, and it takes all at once: then locks are taken less often for each.
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "ground_truth.h"

namespace {

constexpr int kRequests = 5;

ground_truth::Line work_line{"work", 150};
ground_truth::Line answer_line{"answer", 120};

[[gnu::noinline]] void work() {
  for (long i = work_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE work
}

[[gnu::noinline]] void answer() {
  for (long i = answer_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE answer
}

std::mutex mutex;
std::condition_variable is_there;
std::deque<int> requests;
std::deque<int> done;
const int wakes_loop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

void run_worker() {
  for (;;) {
    std::unique_lock lock(mutex);
    is_there.wait(lock, [] { return !requests.empty(); });
    const int request = requests.front();
    requests.pop_front();
    lock.unlock();
    work();
    lock.lock();
    done.push_back(request);
    const bool is_first = done.size() == 1;
    lock.unlock();
    const std::uint64_t one = 1;
    if (is_first && write(wakes_loop, &one, sizeof one) != sizeof one) std::abort();
  }
}

void hand_over(int request) {
  const std::lock_guard lock(mutex);
  requests.push_back(request);
  is_there.notify_one();
}

void run_loop() {
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  epoll_event event{.events = EPOLLIN, .data = {}};
  epoll_ctl(epoll, EPOLL_CTL_ADD, wakes_loop, &event);
  for (int request = 0; request < kRequests; ++request) hand_over(request);
  for (;;) {
    if (epoll_wait(epoll, &event, 1, -1) != 1) continue;
    std::uint64_t count = 0;
    if (read(wakes_loop, &count, sizeof count) != sizeof count) continue;
    std::deque<int> taken;
    {
      const std::lock_guard lock(mutex);
      taken.swap(done);
    }
    for (const int request : taken) {
      answer();
      COZ_PROGRESS_NAMED("request");
      ground_truth::visit();
      hand_over(request);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  ground_truth::begin(argc, argv);
  std::thread worker(run_worker);
  run_loop();
}
