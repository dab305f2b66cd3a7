// What a program may rely on and a profiler likes to break: each line printed says that one thing
// holds.
#include <coz.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

void say(const char* what, bool holds) { std::printf("%s: %s\n", what, holds ? "yes" : "NO"); }

long milliseconds_since(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start).count();
}

void work(long rounds) {
  for (volatile long i = 0; i < rounds; i = i + 1) {
  }
}

__attribute__((noinline)) void thrower(int depth) {
  work(1000);
  if (depth == 0) throw std::runtime_error("thrown");
  thrower(depth - 1);
  work(1);
}

bool exceptions_are_caught() {
  int caught = 0;
  for (int i = 0; i < 2000; ++i) {
    try {
      thrower(10);
    } catch (const std::runtime_error&) {
      ++caught;
    }
    COZ_PROGRESS_NAMED("exception");
  }
  return caught == 2000;
}

bool sleeps_are_whole() {
  const auto start = Clock::now();
  if (usleep(150'000) != 0) return false;
  std::this_thread::sleep_for(std::chrono::milliseconds(150));
  return milliseconds_since(start) >= 300;
}

bool poll_is_not_interrupted() {
  const auto start = Clock::now();
  return poll(nullptr, 0, 150) == 0 && milliseconds_since(start) >= 149;
}

bool timed_wait_times_out() {
  std::mutex mutex;
  std::condition_variable condition;
  std::unique_lock lock(mutex);
  const auto start = Clock::now();
  const bool woken = condition.wait_for(lock, std::chrono::milliseconds(150), [] { return false; });
  return !woken && milliseconds_since(start) >= 150;
}

bool locks_exclude() {
  std::mutex mutex;
  long counter = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5000; ++i) {
        work(500);
        const std::lock_guard guard(mutex);
        counter = counter + 1;
        COZ_PROGRESS_NAMED("locked");
      }
    });
  }
  for (auto& thread : threads) thread.join();
  return counter == 20000;
}

bool queue_delivers() {
  std::mutex mutex;
  std::condition_variable condition;
  int waiting = 0;
  long sum = 0;
  std::thread consumer([&] {
    for (int i = 0; i < 5000; ++i) {
      std::unique_lock lock(mutex);
      condition.wait(lock, [&] { return waiting > 0; });
      --waiting;
      lock.unlock();
      work(2000);
      ++sum;
    }
  });
  for (int i = 0; i < 5000; ++i) {
    work(2000);
    {
      const std::lock_guard guard(mutex);
      ++waiting;
    }
    condition.notify_one();
  }
  consumer.join();
  return sum == 5000;
}

std::atomic<int> handled{0};

bool own_handlers_run() {
  struct sigaction action{};
  action.sa_handler = [](int) { ++handled; };
  sigaction(SIGUSR1, &action, nullptr);
  for (int i = 0; i < 100; ++i) {
    raise(SIGUSR1);
    work(10'000);
  }
  return handled == 100;
}

bool blocked_signals_stay_blocked() {
  sigset_t all;
  sigset_t before;
  sigset_t now;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  work(5'000'000);
  pthread_sigmask(SIG_SETMASK, nullptr, &now);
  const bool blocked = sigismember(&now, SIGUSR1) == 1 && sigismember(&now, SIGTERM) == 1;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return blocked;
}

bool errno_survives() {
  errno = EDOM;
  work(20'000'000);
  return errno == EDOM;
}

bool many_threads_come_and_go() {
  std::atomic<int> done{0};
  for (int round = 0; round < 50; ++round) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&] {
        work(20'000);
        ++done;
      });
    }
    for (auto& thread : threads) thread.join();
  }
  return done == 400;
}

void* exits_early(void* result) {
  work(100'000);
  pthread_exit(result);
}

bool thread_results_arrive() {
  int marker = 0;
  for (int i = 0; i < 50; ++i) {
    pthread_t thread;
    void* result = nullptr;
    if (pthread_create(&thread, nullptr, exits_early, &marker) != 0) return false;
    if (pthread_join(thread, &result) != 0 || result != &marker) return false;
  }
  return true;
}

bool one_thread_is_serial_at_a_barrier() {
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, 3);
  std::atomic<int> serial{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 100; ++i) {
        work(20'000 * (t + 1));
        if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) ++serial;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  pthread_barrier_destroy(&barrier);
  return serial == 100;
}

}  // namespace

int main() {
  say("exceptions are caught", exceptions_are_caught());
  say("sleeps are whole", sleeps_are_whole());
  say("poll is not interrupted", poll_is_not_interrupted());
  say("a timed wait times out", timed_wait_times_out());
  say("locks exclude", locks_exclude());
  say("a queue delivers", queue_delivers());
  say("own handlers run", own_handlers_run());
  say("blocked signals stay blocked", blocked_signals_stay_blocked());
  say("errno survives", errno_survives());
  say("many threads come and go", many_threads_come_and_go());
  say("results of threads arrive", thread_results_arrive());
  say("one thread is serial at a barrier", one_thread_is_serial_at_a_barrier());
  return 0;
}
