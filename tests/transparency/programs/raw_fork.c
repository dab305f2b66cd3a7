/* Children made without libc's handlers for it, in a program with threads; they use locks, sleep,
 * and visit their parent's progress points. argv[1]: by _Fork or by clone. */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include "transparency.h"

static volatile int over;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* computes(void* argument) {
  while (!over) work(1);
  return argument;
}

static void visit(int times) {
  for (int i = 0; i < times; i++) COZ_PROGRESS_NAMED("visit");
}

static int child(int round) {
  int handled = 0;
  struct timespec begin, now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  visit(1000);
  pthread_mutex_lock(&mutex);
  do {
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  } while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < 5);
  pthread_mutex_unlock(&mutex);
  usleep(1000);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = SIG_IGN;
  handled += sigaction(SIGTRAP, &action, NULL) == 0;
  handled += sigaction(SIGSTKFLT, &action, NULL) == 0;
  kill(getpid(), SIGTRAP);
  kill(getpid(), SIGSTKFLT);
  return handled == 2 ? round : 99;
}

int main(int count, char** arguments) {
  pthread_t thread;
  if (count != 2) return 2;
  visit(1);
  pthread_create(&thread, NULL, computes, NULL);
  for (int round = 0; round < 20; round++) {
    work(10);
    const pid_t process = strcmp(arguments[1], "_Fork") == 0
                              ? _Fork()
                              : (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (process == 0) _exit(child(round));
    say_end("child", process);
  }
  over = 1;
  pthread_join(thread, NULL);
  visit(1);
  return 0;
}
