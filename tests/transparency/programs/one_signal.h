/* What the programs share that are about one signal, argv[1]. Their own handler counts it. */
#ifndef ONE_SIGNAL_H
#define ONE_SIGNAL_H

#include <pthread.h>
#include <signal.h>
#include "transparency.h"

static int number;
static volatile sig_atomic_t handled;
static pthread_t main_thread;

__attribute__((unused)) static void handle(int signal) {
  (void)signal;
  handled++;
}

__attribute__((unused)) static sigset_t only(int signal) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  return set;
}

/* In the calling thread. */
__attribute__((unused)) static int is_blocked(void) {
  sigset_t now;
  pthread_sigmask(SIG_BLOCK, NULL, &now);
  return sigismember(&now, number);
}

#endif
