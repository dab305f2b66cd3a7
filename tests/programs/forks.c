/* Work in a child that is forked, with marks that the parent has been through before.
 *   forks WAY SECONDS
 * WAY: child, daemon, twice, workers, later, none, exec, helper, orphan, handler; closes, server,
 * reuses: with descriptors closed, and their numbers used again. Prints, from whoever works, its
 * number of rounds. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coz.h"
#include "until.h"

static void one_round(void) {
  for (volatile int i = 0; i < 1000000; i = i + 1) { /* WORK */
  }
  COZ_PROGRESS_NAMED("round");
}

static long rounds, sum;

/* A location that --progress names. */
__attribute__((noinline)) static void count_round(void) {
  rounds = rounds + 1;
  sum = sum + 3 * rounds;
}

static long work(const char* seconds) {
  const Until end = until(seconds);
  while (!is_over(&end)) {
    one_round();
    count_round();
  }
  printf("%ld rounds in %s\n", rounds, getppid() == 1 ? "an orphan" : "a child");
  fflush(stdout);
  return rounds;
}

static int wait_for_all(void) {
  int status, worst = 0;
  while (wait(&status) > 0)
    if (status != 0) worst = 1;
  return worst;
}

/* Everything above stderr is closed, and the numbers go to a file of the program's. */
static int fill_descriptors(void) {
  FILE* file = tmpfile();
  const int data = dup2(fileno(file), 3);
  closefrom(4);
  for (int i = 0; i < 600; i++)
    if (dup(data) < 0) break;
  return data;
}

static long written(int data) {
  struct stat status;
  return fstat(data, &status) == 0 ? (long)status.st_size : -1;
}

static int missing(void) {
  int number = 0;
  for (int i = 3; i < 600; i++) number += fcntl(i, F_GETFD) < 0;
  return number;
}

static void forks(int number) {
  (void)number;
  if (fork() == 0) _exit(work("0.3") > 0 ? 0 : 1);
}

int main(int count, char** words) {
  const char* way = count > 1 ? words[1] : "";
  const char* seconds = count > 2 ? words[2] : "2";
  for (int i = 0; i < 20; i++) one_round();
  if (strcmp(way, "child") == 0) {
    if (fork() == 0) return work(seconds) > 0 ? 0 : 1;
    return wait_for_all() == 0 ? 7 : 1;
  }
  if (strcmp(way, "daemon") == 0) {
    if (daemon(1, 1) != 0) return 1;
    return work(seconds) > 0 ? 0 : 1;
  }
  if (strcmp(way, "twice") == 0) {
    if (fork() != 0) return 0;
    setsid();
    usleep(50000);
    if (fork() != 0) return 0;
    return work(seconds) > 0 ? 0 : 1;
  }
  if (strcmp(way, "workers") == 0) {
    for (int i = 0; i < 3; i++)
      if (fork() == 0) return work(seconds) > 0 ? 0 : 1;
    return wait_for_all();
  }
  if (strcmp(way, "later") == 0) {
    for (int i = 0; i < 2; i++) {
      if (fork() == 0) return work(seconds) > 0 ? 0 : 1;
      if (wait_for_all() != 0) return 1;
    }
    return 0;
  }
  if (strcmp(way, "closes") == 0 || strcmp(way, "reuses") == 0) {
    if (strcmp(way, "closes") == 0 && fork() != 0) return wait_for_all();
    const int data = fill_descriptors();
    work(seconds);
    printf("%ld bytes of somebody else's\n", written(data));
    return written(data) != 0;
  }
  if (strcmp(way, "server") == 0) {
    fill_descriptors();
    if (fork() == 0) {
      work(seconds);
      printf("%d descriptors are missing\n", missing());
      return missing() != 0;
    }
    return wait_for_all();
  }
  if (strcmp(way, "orphan") == 0) {
    if (fork() == 0) return work(seconds) > 0 ? 0 : 1;
    return wait_for_all();
  }
  if (strcmp(way, "handler") == 0) {
    signal(SIGUSR1, forks);
    raise(SIGUSR1);
    return wait_for_all();
  }
  if (strcmp(way, "helper") == 0) {
    const pid_t helper = fork();
    if (helper == 0) {
      execlp("sleep", "sleep", "600", (char*)NULL);
      _exit(1);
    }
    usleep(200000);
    if (fork() == 0) return work(seconds) > 0 ? 0 : 1;
    int status = 1;
    wait(&status);
    kill(helper, SIGTERM);
    wait(NULL);
    return status != 0;
  }
  if (strcmp(way, "exec") == 0) {
    if (fork() == 0) {
      execlp("true", "true", (char*)NULL);
      _exit(1);
    }
    if (wait_for_all() != 0) return 1;
    if (fork() == 0) return work(seconds) > 0 ? 0 : 1;
    return wait_for_all();
  }
  return work(seconds) > 0 ? 0 : 1;
}
