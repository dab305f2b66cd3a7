/* The main thread leaves by pthread_exit; the process ends, with status 0, when its last thread
 * does. What it has blocked is blocked at the exit, too. */
#include <pthread.h>
#include <signal.h>
#include "transparency.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* works(void* name) {
  for (int i = 0; i < 20; i++) {
    pthread_mutex_lock(&mutex);
    work(2);
    pthread_mutex_unlock(&mutex);
    work(3);
  }
  pthread_mutex_lock(&mutex);
  printf("a thread is done\n");
  fflush(stdout);
  pthread_mutex_unlock(&mutex);
  return name;
}

static void at_exit(void) {
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, NULL, &blocked);
  printf("at exit: %d %d %d\n", sigismember(&blocked, SIGTRAP), sigismember(&blocked, SIGSTKFLT),
         sigismember(&blocked, SIGUSR1));
}

int main(void) {
  pthread_t thread;
  sigset_t own;
  sigemptyset(&own);
  sigaddset(&own, SIGTRAP);
  sigaddset(&own, SIGSTKFLT);
  pthread_sigmask(SIG_BLOCK, &own, NULL);
  atexit(at_exit);
  work(100);
  for (int i = 0; i < 2; i++) {
    pthread_create(&thread, NULL, works, NULL);
    pthread_detach(thread);
  }
  pthread_exit(NULL);
}
