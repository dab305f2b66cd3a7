/* Children by fork, while another thread computes and allocates: they compute, make threads and
 * children of their own. */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include "transparency.h"

static volatile int over;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* allocates(void* argument) {
  while (!over) {
    free(memset(malloc(5000), 1, 5000));
    pthread_mutex_lock(&mutex);
    work(1);
    pthread_mutex_unlock(&mutex);
  }
  return argument;
}

static void* adds(void* result) {
  work(2);
  *(int*)result += 1;
  return NULL;
}

static int grandchild(void) {
  const pid_t child = fork();
  if (child == 0) {
    work(2);
    _exit(3);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

static int child(int round) {
  int result = round;
  pthread_t thread;
  free(malloc(5000));
  if (pthread_create(&thread, NULL, adds, &result) != 0) return 99;
  pthread_join(thread, NULL);
  usleep(1000);
  return result + grandchild();
}

/* A child has the signals for itself: what it blocks is blocked, what it ignores is ignored. */
static int owns_signals(void) {
  sigset_t set, pending;
  for (int number = 1; number < 32; number++) {
    if (number == SIGKILL || number == SIGSTOP) continue;
    sigemptyset(&set);
    sigaddset(&set, number);
    sigprocmask(SIG_BLOCK, &set, NULL);
    raise(number);
    sigpending(&pending);
    if (!sigismember(&pending, number)) return number;
    signal(number, SIG_IGN);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    raise(number);
  }
  return 0;
}

int main(int count, char** words) {
  /* In children that are profiled, blocked signals of the profiler's do not stay pending. */
  const int asks_signals = count < 2 || strcmp(words[1], "work") != 0;
  pthread_t thread;
  work(30);
  pthread_create(&thread, NULL, allocates, NULL);
  for (int round = 0; round < 20; round++) {
    const pid_t process = fork();
    if (process == 0) _exit(child(round));
    say_end("child", process);
    work(5);
  }
  if (asks_signals) {
    const pid_t process = fork();
    if (process == 0) _exit(owns_signals());
    say_end("child with signals", process);
  }
  over = 1;
  pthread_join(thread, NULL);
  say("no stray children", waitpid(-1, NULL, 0) == -1);
  return 0;
}
