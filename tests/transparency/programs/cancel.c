/* Threads that are cancelled: where they wait, where they compute, at any instruction; their
 * clean-up runs once. */
#include <pthread.h>
#include <semaphore.h>
#include "transparency.h"

enum { kThreads = 40 };
static int cleaned;
static pthread_key_t key;
static int destroyed;
static sem_t never;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void clean(void* argument) {
  __atomic_fetch_add(&cleaned, 1, __ATOMIC_SEQ_CST);
  (void)argument;
}

static void destroy(void* argument) {
  __atomic_fetch_add(&destroyed, 1, __ATOMIC_SEQ_CST);
  (void)argument;
}

static void* waits(void* argument) {
  pthread_setspecific(key, argument);
  pthread_cleanup_push(clean, NULL);
  work(1);
  sem_wait(&never);
  pthread_cleanup_pop(0);
  return NULL;
}

static void* tests(void* argument) {
  pthread_setspecific(key, argument);
  pthread_cleanup_push(clean, NULL);
  for (;;) {
    pthread_mutex_lock(&mutex);
    work(1);
    pthread_mutex_unlock(&mutex);
    pthread_testcancel();
  }
  pthread_cleanup_pop(0);
  return NULL;
}

/* Calls nothing that is not safe to be cancelled in: a computation, and a mark. */
static void* computes(void* argument) {
  pthread_setspecific(key, argument);
  pthread_cleanup_push(clean, NULL);
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
  for (volatile long i = 0;; i = i + 1) {
    if (i % 1000 == 0) COZ_PROGRESS_NAMED("round");
  }
  pthread_cleanup_pop(0);
  return NULL;
}

static void* idles(void* argument) {
  work(30);
  return argument;
}

static void check(const char* what, void* (*routine)(void*)) {
  int canceled = 0;
  cleaned = destroyed = 0;
  for (int i = 0; i < kThreads / 4; i++) {
    pthread_t threads[4];
    for (int t = 0; t < 4; t++) pthread_create(&threads[t], NULL, routine, &key);
    usleep(3000 + 300 * (unsigned)i);
    for (int t = 0; t < 4; t++) pthread_cancel(threads[t]);
    for (int t = 0; t < 4; t++) {
      void* result = NULL;
      pthread_join(threads[t], &result);
      canceled += result == PTHREAD_CANCELED;
    }
  }
  say(what, canceled == kThreads && cleaned == kThreads && destroyed == kThreads);
}

int main(void) {
  pthread_t thread;
  pthread_attr_t detached;
  sem_init(&never, 0, 0);
  pthread_key_create(&key, destroy);
  work(150);
  check("cancelled where it waits", waits);
  check("cancelled where it tests", tests);
  check("cancelled at any instruction", computes);
  work(50);
  pthread_attr_init(&detached);
  pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  for (int i = 0; i < 20; i++) pthread_create(&thread, &detached, i % 2 ? idles : tests, NULL);
  work(10);
  /* Ends while detached threads run. */
  return 3;
}
