/* What the programs of the rows share. They print only what is the same in every run. */
#ifndef TRANSPARENCY_H
#define TRANSPARENCY_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <coz.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Computes for so much of the thread's own time, so that samples fall on it, with visits. */
__attribute__((noinline, unused)) static void work(int milliseconds) {
  struct timespec begin, now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  do {
    for (int i = 0; i < 20000; i++) __asm__ volatile("" : "+r"(i));
    COZ_PROGRESS_NAMED("work");
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  } while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 <
           milliseconds);
}

/* A promise: "NO" fails the test, also in the run without the profiler. */
__attribute__((unused)) static void say(const char* what, int holds) {
  printf("%s: %s\n", what, holds ? "yes" : "NO");
  fflush(stdout);
}

/* The end of a child, as text: "exit 5", "signal 11". */
__attribute__((unused)) static void say_end(const char* what, pid_t child) {
  int status = 0;
  if (waitpid(child, &status, 0) != child) {
    printf("%s: no such child\n", what);
  } else if (WIFEXITED(status)) {
    printf("%s: exit %d\n", what, WEXITSTATUS(status));
  } else {
    printf("%s: signal %d\n", what, WTERMSIG(status));
  }
  fflush(stdout);
}

#endif
