/* Two threads that take turns at one lock: a mutex, or a lock of readers and writers, which one
 * thread shares and the other takes alone.
 *
 * locks [SECONDS [rwlock]] */
#include <coz.h>
#include <pthread.h>

#include "until.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
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

static void* read_shared(void* argument) {
  while (!is_over(&end)) {
    pthread_rwlock_rdlock(&rwlock); /* SHARE */
    work(600000);
    pthread_rwlock_unlock(&rwlock);
    work(300000);
    COZ_PROGRESS_NAMED("round");
  }
  return argument;
}

static void* write_alone(void* argument) {
  while (!is_over(&end)) {
    pthread_rwlock_wrlock(&rwlock); /* WRITE */
    work(600000);
    pthread_rwlock_unlock(&rwlock);
    work(300000);
  }
  return argument;
}

int main(int argc, char** argv) {
  const int shares = argc > 2;
  end = until(argc > 1 ? argv[1] : "1");
  pthread_t other;
  pthread_create(&other, NULL, shares ? write_alone : run, NULL);
  if (shares) {
    read_shared(NULL);
  } else {
    run(NULL);
  }
  pthread_join(other, NULL);
  return 0;
}
