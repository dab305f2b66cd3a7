/* The usual way of servers: all signals blocked in all threads, and one that waits for them.
 * Samples must neither reach it nor be lost. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include "transparency.h"

static volatile int over;
static int unexpected;

static void* computes(void* argument) {
  while (!over) {
    work(2);
    usleep(100);
  }
  return argument;
}

static void* waits(void* set) {
  siginfo_t info;
  int users = 0;
  for (;;) {
    const int number = sigwaitinfo((const sigset_t*)set, &info);
    if (number == SIGTERM) break;
    if (number == SIGUSR1)
      users++;
    else
      unexpected++;
  }
  say("the waiting thread got the signal it was sent", users >= 1);
  return NULL;
}

static void* reads(void* set) {
  const int descriptor = signalfd(-1, (const sigset_t*)set, SFD_NONBLOCK);
  struct signalfd_siginfo info;
  for (;;) {
    struct pollfd wanted = {descriptor, POLLIN, 0};
    work(1);
    poll(&wanted, 1, 2);
    if (read(descriptor, &info, sizeof info) != sizeof info) {
      if (errno != EAGAIN) unexpected += 1000;
      continue;
    }
    if (info.ssi_signo == SIGUSR2) break;
    unexpected++;
  }
  close(descriptor);
  return NULL;
}

static int is_profilers(int number) { return number == SIGTRAP || number == SIGSTKFLT; }

/* With an argument: is what the profiler may use in the mask that is read back, too? */
int main(int count, char** arguments) {
  (void)arguments;
  sigset_t all, seen;
  pthread_t waiter, reader, workers[2];
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, NULL);
  pthread_sigmask(SIG_SETMASK, NULL, &seen);
  int missing = 0;
  for (int number = 1; number < 32; number++) {
    if (number == SIGKILL || number == SIGSTOP || is_profilers(number)) continue;
    missing += !sigismember(&seen, number);
  }
  say("all others are blocked", missing == 0);
  if (count > 1) {
    say("SIGTRAP and SIGSTKFLT are blocked",
        sigismember(&seen, SIGTRAP) && sigismember(&seen, SIGSTKFLT));
  }
  for (int i = 0; i < 2; i++) pthread_create(&workers[i], NULL, computes, NULL);
  pthread_create(&reader, NULL, reads, &all);
  work(250);
  pthread_kill(reader, SIGUSR2);
  pthread_join(reader, NULL);
  pthread_create(&waiter, NULL, waits, &all);
  work(50);
  kill(getpid(), SIGUSR1);
  work(20);
  kill(getpid(), SIGTERM);
  pthread_join(waiter, NULL);
  over = 1;
  for (int i = 0; i < 2; i++) pthread_join(workers[i], NULL);
  say("no signal came that nobody sent", unexpected == 0);
  return 0;
}
