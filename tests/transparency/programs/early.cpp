// Threads before main and after it: created by constructors, by static destructors and at exit.
#include <pthread.h>

#include <atomic>
#include <cstdio>
#include <mutex>

#include "transparency.h"

namespace {

std::mutex mutex;
std::atomic<bool> over{false};
std::atomic<int> rounds{0};
pthread_t early_thread;

void* before_main(void* argument) {
  while (!over) {
    const std::lock_guard guard(mutex);
    work(1);
    ++rounds;
  }
  return argument;
}

void* after_main(void* argument) {
  work(20);
  const std::lock_guard guard(mutex);
  std::printf("a thread after main\n");
  std::fflush(stdout);
  return argument;
}

void run_one_more() {
  pthread_t thread;
  pthread_create(&thread, nullptr, after_main, nullptr);
  pthread_join(thread, nullptr);
}

__attribute__((constructor)) void start_early() {
  pthread_create(&early_thread, nullptr, before_main, nullptr);
}

struct Last {
  ~Last() { run_one_more(); }
} last;

__attribute__((destructor)) void start_late() { run_one_more(); }

}  // namespace

int main() {
  std::atexit(run_one_more);
  work(250);
  over = true;
  pthread_join(early_thread, nullptr);
  say("the thread from before main worked", rounds > 0);
  return 5;
}
