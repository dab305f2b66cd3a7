/* Two threads that take turns at one lock. */
#include <coz.h>
#include <pthread.h>

#include "until.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static Until end;

static void work(long length) {
  for (long i = 0; i < length; ++i) __asm__ volatile("" : "+r"(i));
}

static void* run(void* argument) {
  while (!is_over(&end)) {
    pthread_mutex_lock(&mutex); /* LOCK */
    work(600000);
    pthread_mutex_unlock(&mutex);
    work(300000);
    COZ_PROGRESS_NAMED("round");
  }
  return argument;
}

int main(int argc, char** argv) {
  end = until(argc > 1 ? argv[1] : "1");
  pthread_t other;
  pthread_create(&other, NULL, run, NULL);
  run(NULL);
  pthread_join(other, NULL);
  return 0;
}
