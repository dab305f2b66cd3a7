/* A thread on a small stack of the program's own memory creates the one that works.
 * small_creator SECONDS */
#define _GNU_SOURCE
#include <coz.h>
#include <pthread.h>
#include <stdalign.h>

#include "until.h"

static Until end;

static void* work(void* unused) {
  while (!is_over(&end)) {
    for (volatile int i = 0; i < 250000; i = i + 1) {
    }
    COZ_PROGRESS_NAMED("loop");
  }
  return unused;
}

static void* create(void* worker) {
  return pthread_create(worker, NULL, work, NULL) == 0 ? NULL : worker;
}

int main(int argc, char** argv) {
  static alignas(4096) char stack[20 * 1024];
  pthread_attr_t attributes;
  pthread_t creator, worker;
  void* failed;
  end = until(argc > 1 ? argv[1] : "1");
  pthread_attr_init(&attributes);
  if (pthread_attr_setstack(&attributes, stack, sizeof stack) != 0) return 1;
  if (pthread_create(&creator, &attributes, create, &worker) != 0) return 2;
  if (pthread_join(creator, &failed) != 0 || failed != NULL) return 3;
  return pthread_join(worker, NULL);
}
