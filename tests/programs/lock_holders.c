/* Two threads that wait for each other's locks, each taken at a line of its own.
 *
 * lock_holders SECONDS */
#include <coz.h>
#include <pthread.h>

#include "until.h"

static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t tried = PTHREAD_MUTEX_INITIALIZER;
static Until end;

static void work(long length) {
  for (long i = 0; i < length; ++i) __asm__ volatile("" : "+r"(i));
}

static void* hold(void* argument) {
  while (!is_over(&end)) {
    pthread_mutex_lock(&plain); /* HOLD */
    work(1000000);
    pthread_mutex_unlock(&plain);
    while (pthread_mutex_trylock(&tried) != 0) work(1000); /* TRY */
    work(1000000);
    pthread_mutex_unlock(&tried);
    COZ_PROGRESS_NAMED("round");
  }
  return argument;
}

int main(int argc, char** argv) {
  end = until(argc > 1 ? argv[1] : "1");
  pthread_t other;
  pthread_create(&other, NULL, hold, NULL);
  while (!is_over(&end)) {
    pthread_mutex_lock(&plain); /* WAIT FOR PLAIN */
    pthread_mutex_unlock(&plain);
    work(100000);
    pthread_mutex_lock(&tried); /* WAIT FOR TRIED */
    pthread_mutex_unlock(&tried);
    work(100000);
  }
  pthread_join(other, NULL);
  return 0;
}
