/* Joins threads that have long ended, after work of the main thread's own. Prints how often the
 * main thread gave up the processor by itself: nothing here makes it wait. */
#define _GNU_SOURCE
#include <coz.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static void* end_at_once(void* argument) { return argument; }

int main(void) {
  struct rusage before, after;
  long waits = 0;
  for (int round = 0; round < 60; round++) {
    pthread_t thread;
    pthread_create(&thread, NULL, end_at_once, NULL);
    usleep(20000); /* it has ended by now */
    getrusage(RUSAGE_THREAD, &before);
    for (const clock_t until = clock() + CLOCKS_PER_SEC / 20; clock() < until;) {
      for (volatile int i = 0; i < 100000; i++) {
      }
    }
    pthread_join(thread, NULL);
    getrusage(RUSAGE_THREAD, &after);
    waits += after.ru_nvcsw - before.ru_nvcsw;
    COZ_PROGRESS;
  }
  printf("%ld\n", waits);
  return 0;
}
