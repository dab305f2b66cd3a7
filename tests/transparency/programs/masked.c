/* A thread that has all signals blocked from its beginning, and computes while the first one waits.
 * argv[1]: by its attributes, by syscall(), or by the system call itself. */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include "transparency.h"

static volatile int visits;

/* May be counted by a breakpoint. */
__attribute__((noinline)) static void visited(void) { visits = visits + 1; }

static void* computes(void* how) {
  const unsigned long all = ~0UL;
  unsigned long now = 0;
  if (strcmp(how, "syscall") == 0) {
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, NULL, sizeof all);
  } else if (strcmp(how, "raw") == 0) {
#if defined(__x86_64__)
    long result;
    register long size __asm__("r10") = sizeof all;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(SYS_rt_sigprocmask), "D"(SIG_BLOCK), "S"(&all), "d"(NULL), "r"(size)
                     : "rcx", "r11", "memory");
#endif
  }
  for (int i = 0; i < 60; i++) {
    work(5);
    visited();
  }
  syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &now, sizeof now);
  int missing = 0;
  for (int number = 1; number < 64; number++) {
    if (number == SIGKILL || number == SIGSTOP || number == SIGTRAP || number == SIGSTKFLT)
      continue;
    if (number > 31 && number < SIGRTMIN) continue; /* libc's */
    missing += (now >> (number - 1) & 1) == 0;
  }
  say("the other signals are blocked", missing == 0);
  return NULL;
}

int main(int count, char** arguments) {
  pthread_t thread;
  pthread_attr_t attributes;
  sigset_t all;
  if (count != 2) return 2;
  sigfillset(&all);
  pthread_attr_init(&attributes);
  if (strcmp(arguments[1], "attributes") == 0) pthread_attr_setsigmask_np(&attributes, &all);
  pthread_create(&thread, &attributes, computes, arguments[1]);
  pthread_join(thread, NULL);
  say("all was visited", visits == 60);
  return 0;
}
