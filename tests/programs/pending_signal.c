/* Takes signals that another thread has sent long ago, after work of the main thread's own. Prints
 * how often the main thread gave up the processor by itself: nothing here makes it wait. */
#define _GNU_SOURCE
#include <coz.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

static pthread_t main_thread;

static void* send_at_once(void* argument) {
  pthread_kill(main_thread, SIGUSR1);
  return argument;
}

int main(void) {
  struct rusage before, after;
  sigset_t set;
  long waits = 0;
  int signal_number;
  main_thread = pthread_self();
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  for (int round = 0; round < 60; round++) {
    pthread_t thread;
    pthread_create(&thread, NULL, send_at_once, NULL);
    pthread_join(thread, NULL); /* it is pending now */
    getrusage(RUSAGE_THREAD, &before);
    for (const clock_t until = clock() + CLOCKS_PER_SEC / 20; clock() < until;) {
      for (volatile int i = 0; i < 100000; i++) {
      }
    }
    sigwait(&set, &signal_number);
    getrusage(RUSAGE_THREAD, &after);
    waits += after.ru_nvcsw - before.ru_nvcsw;
    COZ_PROGRESS;
  }
  printf("%ld\n", waits);
  return 0;
}
