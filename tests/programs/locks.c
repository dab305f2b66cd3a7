/* Two threads that take turns at one lock: a mutex, or a lock of readers and writers, which one
 * thread shares and the other takes alone; or at two mutexes on the heap.
 *
 * locks [SECONDS [rwlock|heap]] */
#include <coz.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

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

static pthread_mutex_t* heap_mutexes;

static void* use_both(void* argument) {
  for (long round = 0; !is_over(&end); ++round) {
    pthread_mutex_lock(&heap_mutexes[round % 2]); /* HEAP */
    work(600000);
    pthread_mutex_unlock(&heap_mutexes[round % 2]);
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
  const char* kind = argc > 2 ? argv[2] : "";
  void* (*one)(void*) = run;
  void* (*another)(void*) = run;
  if (strcmp(kind, "rwlock") == 0) one = read_shared, another = write_alone;
  if (strcmp(kind, "heap") == 0) one = another = use_both;
  heap_mutexes = malloc(2 * sizeof *heap_mutexes);
  if (heap_mutexes == NULL) return 1;
  for (int i = 0; i < 2; ++i) pthread_mutex_init(&heap_mutexes[i], NULL);
  end = until(argc > 1 ? argv[1] : "1");
  pthread_t other;
  pthread_create(&other, NULL, another, NULL);
  one(NULL);
  pthread_join(other, NULL);
  free(heap_mutexes);
  return 0;
}
