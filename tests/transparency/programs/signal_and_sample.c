/* A signal ends the call that waits for it each time, also when a sample arrives with it. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include "transparency.h"

static volatile sig_atomic_t came;

static void count(int number) {
  (void)number;
  came++;
}

int main(void) {
  enum { SIGNALS = 100000 };
  const int number = SIGRTMIN + 3;
  const struct timespec long_time = {600, 0};
  int suspended = 0, polled = 0;
  sigset_t blocked, before;
  signal(number, count);
  sigemptyset(&blocked);
  sigaddset(&blocked, number);
  sigprocmask(SIG_BLOCK, &blocked, &before);
  alarm(100); /* ends a program that waits for ever */
  work(10);
  for (int i = 0; i < SIGNALS; i++) {
    raise(number);
    suspended += sigsuspend(&before) == -1 && errno == EINTR;
    raise(number);
    polled += ppoll(NULL, 0, &long_time, &before) == -1 && errno == EINTR;
  }
  say("each signal came", came == 2 * SIGNALS);
  say("each ended sigsuspend", suspended == SIGNALS);
  say("each ended ppoll", polled == SIGNALS);
  return 0;
}
