// Passes locations that have no macros, as often as it says itself, in several ways:
//   visits [plain|threads|fork|trap|masks|long] [SECONDS]
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

#include "until.h"

namespace {

std::atomic<long> sum;  // so that nothing is left out
std::atomic<long> calls, lines, inlined;
long table[8] = {1, 2, 3, 4, 5, 6, 7, 8};

template <typename T>
__attribute__((noinline)) long counted(T value) {
  calls.fetch_add(1, std::memory_order_relaxed);
  return static_cast<long>(value) + table[3];
}

__attribute__((always_inline)) inline long twice(long value) {
  inlined.fetch_add(1, std::memory_order_relaxed);
  return value * 2 + table[value & 7];
}

__attribute__((noinline)) long unit(long i) {
  long result = counted(i);
  if ((i & 1) != 0) {
    lines.fetch_add(1, std::memory_order_relaxed);
    result += table[i & 7];  // LINE
  }
  result += twice(i);
  for (long j = 0; j < 3; ++j) {
    if (j == i % 5) result -= twice(j);
  }
  sum.fetch_add(result, std::memory_order_relaxed);
  return result;
}

void work(long units) {
  for (long i = 0; i < units; ++i) unit(i);
}

void* run(void*) {
  work(2000);
  return nullptr;
}

void in_threads() {
  pthread_t threads[4];
  for (pthread_t& thread : threads) pthread_create(&thread, nullptr, run, nullptr);
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
}

// The child's passes are not ours; it must get through them all the same.
void in_child() {
  work(500);
  const long before[] = {calls, lines, inlined};
  const pid_t child = fork();
  if (child == 0) {
    work(300);
    _exit(sum != 0 && calls == before[0] + 300 ? 7 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 7) printf("the child failed\n");
}

volatile sig_atomic_t trapped, raised;

void on_trap(int, siginfo_t* info, void*) {
  if (info->si_code == SI_TKILL) raised = raised + 1;
  if (info->si_code == SI_KERNEL) trapped = trapped + 1;
  unit(1);
}

// A handler of its own, for traps of its own, in which the same locations are passed.
void with_traps() {
  struct sigaction action = {}, before;
  action.sa_sigaction = on_trap;
  action.sa_flags = SA_SIGINFO;
  sigfillset(&action.sa_mask);
  sigaction(SIGTRAP, &action, &before);
  if (before.sa_handler != SIG_DFL) printf("somebody had a handler\n");
  for (int i = 0; i < 50; ++i) {
    unit(i);
    raise(SIGTRAP);
#if defined(__x86_64__)
    __asm__ volatile("int3");
#endif
  }
#if defined(__x86_64__)
  if (trapped != 50) printf("%d traps\n", static_cast<int>(trapped));
#endif
  if (raised != 50) printf("%d raised\n", static_cast<int>(raised));
  sigaction(SIGTRAP, nullptr, &before);
  if (before.sa_sigaction != on_trap || sigismember(&before.sa_mask, SIGTRAP) != 1) {
    printf("the handler is another\n");
  }
}

void on_signal(int) { unit(3); }

// Whoever blocks everything must get through as well.
void with_masks() {
  struct sigaction action = {}, before;
  action.sa_handler = on_signal;
  sigfillset(&action.sa_mask);
  sigaction(SIGUSR1, &action, nullptr);
  sigaction(SIGUSR1, nullptr, &before);
  if (sigismember(&before.sa_mask, SIGTRAP) != 1) printf("the mask is another\n");
  raise(SIGUSR1);
  sigset_t all, one;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  work(100);
  raise(SIGUSR1);
  sigdelset(&all, SIGUSR1);
  sigsuspend(&all);
  raise(SIGUSR1);
  const timespec short_time = {0, 1000000};
  pselect(0, nullptr, nullptr, nullptr, &short_time, &all);
  sigemptyset(&one);
  pthread_sigmask(SIG_SETMASK, &one, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  const char* way = argc > 1 ? argv[1] : "plain";
  if (strcmp(way, "threads") == 0) {
    in_threads();
  } else if (strcmp(way, "fork") == 0) {
    in_child();
  } else if (strcmp(way, "trap") == 0) {
    with_traps();
  } else if (strcmp(way, "masks") == 0) {
    with_masks();
  } else if (strcmp(way, "long") == 0) {
    const Until end = until(argv[2]);
    while (!is_over(&end)) {
      for (int i = 0; i < 300000; ++i) {
        __asm__ volatile("");
      }
      unit(1);
    }
  } else {
    work(1000);
  }
  printf("%ld %ld %ld\n", calls.load(), lines.load(), inlined.load());
  return 0;
}
