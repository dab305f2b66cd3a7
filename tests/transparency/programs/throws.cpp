// C++ exceptions through frames of C, of libc and of the profiler. argv[1]: an end by one that
// nobody catches.
#include <pthread.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <future>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include "transparency.h"

namespace {

struct Thrown {
  int number;
};

pthread_once_t once = PTHREAD_ONCE_INIT;
int attempts = 0;

void throws_first() {
  work(1);
  if (++attempts < 3) throw Thrown{attempts};
}

bool through_once() {
  int caught = 0;
  for (int i = 0; i < 5; ++i) {
    try {
      pthread_once(&once, throws_first);
    } catch (const Thrown&) {
      ++caught;
    }
  }
  std::once_flag flag;
  for (int i = 0; i < 5; ++i) {
    try {
      std::call_once(flag, [&] {
        work(1);
        if (i < 2) throw Thrown{i};
      });
    } catch (const Thrown&) {
      ++caught;
    }
  }
  return caught == 4 && attempts == 3;
}

int compares(const void*, const void*) {
  work(1);
  throw Thrown{7};
}

bool through_qsort() {
  int numbers[] = {3, 2, 1};
  for (int i = 0; i < 30; ++i) {
    try {
      std::qsort(numbers, 3, sizeof(int), compares);
      return false;
    } catch (const Thrown& thrown) {
      if (thrown.number != 7) return false;
    }
  }
  return true;
}

bool out_of_threads() {
  int caught = 0;
  for (int i = 0; i < 30; ++i) {
    auto result = std::async(std::launch::async, [i]() -> int {
      work(1);
      if (i % 2 == 0) throw std::runtime_error(std::to_string(i));
      return i;
    });
    try {
      result.get();
    } catch (const std::runtime_error& error) {
      caught += error.what() == std::to_string(i);
    }
  }
  return caught == 15;
}

struct Unwound {
  int* count;
  ~Unwound() { ++*count; }
};

// pthread_exit unwinds: through catch (...), which must throw again, and destructors.
void* exits(void* argument) {
  const Unwound unwound{static_cast<int*>(argument)};
  try {
    work(1);
    pthread_exit(argument);
  } catch (...) {
    ++*static_cast<int*>(argument);
    throw;
  }
}

bool by_pthread_exit() {
  int count = 0;
  for (int i = 0; i < 30; ++i) {
    pthread_t thread;
    pthread_create(&thread, nullptr, exits, &count);
    pthread_join(thread, nullptr);
  }
  return count == 60;
}

// Out of a signal handler of the program's own. For -fnon-call-exceptions, which lets a load or
// store throw.
[[gnu::noinline]] void stores(volatile int* place) {
  work(1);
  *place = 1;
}

bool out_of_a_handler() {
  std::signal(SIGSEGV, [](int number) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
    throw Thrown{number};
  });
  int caught = 0;
  for (int i = 0; i < 30; ++i) {
    try {
      stores(nullptr);
    } catch (const Thrown& thrown) {
      caught += thrown.number == SIGSEGV;
    }
  }
  std::signal(SIGSEGV, SIG_DFL);
  return caught == 30;
}

void* throws_out_of_thread(void*) {
  work(1);
  throw std::runtime_error("out of a thread");
}

[[noreturn]] void tells() {
  std::printf("terminated\n");
  std::fflush(stdout);
  std::_Exit(21);
}

[[gnu::noinline]] void throws_one() { throw Thrown{1}; }

void lies() noexcept {
  work(1);
  throws_one();
}

void end(const std::string& how) {
  if (how == "thread") {
    pthread_t thread;
    pthread_create(&thread, nullptr, throws_out_of_thread, nullptr);
    pthread_join(thread, nullptr);
  }
  if (how == "std_thread") std::thread([] { throw std::runtime_error("out of a thread"); }).join();
  if (how == "main") throw std::runtime_error("out of main");
  if (how == "handler") {
    std::set_terminate(tells);
    lies();
  }
}

}  // namespace

int main(int count, char** arguments) {
  work(200);
  if (count > 1) end(arguments[1]);
  say("through pthread_once", through_once());
  say("through qsort", through_qsort());
  say("out of threads", out_of_threads());
  say("by pthread_exit", by_pthread_exit());
  say("out of a handler", out_of_a_handler());
  return 0;
}
