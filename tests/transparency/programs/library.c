/* A library whose constructor, which runs before the profiler's, starts a thread, takes locks and
 * sets handlers. */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include "transparency.h"

static volatile int over;
static volatile sig_atomic_t handled;
static pthread_t thread;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void handle(int number) {
  for (volatile int i = 0; i < 2000000; i = i + 1) {
  }
  handled += number == SIGUSR1;
}

static void* works(void* argument) {
  while (!over) {
    pthread_mutex_lock(&mutex);
    work(1);
    pthread_mutex_unlock(&mutex);
  }
  return argument;
}

__attribute__((constructor)) static void start(void) {
  static char stack[2048 + 16384];
  struct sigaction action;
  const stack_t alternate = {stack, 0, (size_t)sysconf(_SC_MINSIGSTKSZ) + 512};
  sigaltstack(&alternate, NULL);
  memset(&action, 0, sizeof action);
  action.sa_handler = handle;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR1, &action, NULL);
  pthread_create(&thread, NULL, works, NULL);
}

int library_ends(void) {
  for (int i = 0; i < 10; i++) raise(SIGUSR1);
  over = 1;
  pthread_join(thread, NULL);
  return handled;
}
