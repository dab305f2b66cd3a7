/* Makes children in several ways; each must work as without the profiler. */
#define _GNU_SOURCE
#include <coz.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void work(int rounds) {
  for (volatile long i = 0; i < rounds * 1000000L; i = i + 1) {
  }
}

static void* worker(void* result) {
  work(20);
  *(int*)result = 5;
  return NULL;
}

int main(void) {
  for (int i = 0; i < 20; i++) {
    work(10);
    COZ_PROGRESS;
  }
  const pid_t child = fork();
  if (child == 0) {
    /* The child of a process with threads and timers: computes, makes a thread, sleeps. */
    int result = 0;
    pthread_t thread;
    pthread_create(&thread, NULL, worker, &result);
    pthread_join(thread, NULL);
    usleep(10000);
    _exit(result);
  }
  int status = 0;
  waitpid(child, &status, 0);
  printf("child: %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  fflush(stdout);
  status = system("echo \"preload: $LD_PRELOAD\"; exit 3");
  printf("shell: %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  printf("stray children: %d\n", waitpid(-1, &status, WNOHANG) >= 0);
  return 0;
}
