/* Several processes that work together.
 *   tree WAY SECONDS
 * WAY: pool (ten workers that take jobs from a pipe), requests (a child for each), killed (a pool,
 * one of whose workers is killed), outlives (a child works on after its parent's end), nested (a
 * child forks the worker), execs (children become another program), executes (they become this
 * one again), lock (two processes share a mutex). Prints the number of rounds that all of them did,
 * and exits with 7. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coz.h"
#include "until.h"

#define WORKERS 10
#define EXECUTED_ROUNDS 20

typedef struct {
  atomic_long rounds;
  atomic_int busy; /* a worker that has a job */
  pthread_mutex_t mutex;
  long protected_sum;
} Shared;

static Shared* shared;

static void one_round(void) {
  for (volatile int i = 0; i < 300000; i = i + 1) { /* WORK */
  }
  atomic_fetch_add(&shared->rounds, 1);
  COZ_PROGRESS_NAMED("round");
}

static int wait_for_all(void) {
  int status, others = 0;
  while (wait(&status) > 0)
    if (status != 0) others++;
  return others;
}

static void take_jobs(int jobs) {
  char job;
  while (read(jobs, &job, 1) == 1) {
    atomic_store(&shared->busy, getpid());
    one_round();
  }
  exit(0);
}

static int run_pool(const Until* end, int is_killed) {
  int jobs[2];
  pid_t workers[WORKERS];
  if (pipe(jobs) != 0 || fcntl(jobs[1], F_SETPIPE_SZ, 4096) < 0) return 1;
  for (int i = 0; i < WORKERS; i++) {
    workers[i] = fork();
    if (workers[i] == 0) {
      close(jobs[1]);
      take_jobs(jobs[0]);
    }
  }
  close(jobs[0]);
  int lives = is_killed;
  while (lives || !is_over(end)) {
    if (write(jobs[1], "j", 1) != 1) return 1;
    if (!lives || atomic_load(&shared->busy) != workers[0]) continue;
    if (atomic_load(&shared->rounds) < 1000) continue;
    kill(workers[0], SIGKILL);
    lives = 0;
  }
  close(jobs[1]);
  return wait_for_all() == (is_killed ? 1 : 0) ? 7 : 1;
}

static int serve_requests(const Until* end) {
  while (!is_over(end)) {
    const pid_t child = fork();
    if (child == 0) {
      one_round();
      _exit(3);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 3) return 1;
  }
  return 7;
}

static int work_until(const Until* end) {
  while (!is_over(end)) one_round();
  return 0;
}

static int share_lock(const Until* end) {
  for (int i = 0; i < 2; i++) {
    if (fork() != 0) continue;
    while (!is_over(end)) {
      pthread_mutex_lock(&shared->mutex);
      for (volatile int j = 0; j < 100000; j = j + 1) shared->protected_sum++;
      pthread_mutex_unlock(&shared->mutex);
      one_round();
    }
    exit(0);
  }
  return wait_for_all() == 0 ? 7 : 1;
}

static int execute_others(const Until* end) {
  while (!is_over(end)) {
    if (fork() == 0) {
      execlp("true", "true", (char*)NULL);
      _exit(1);
    }
    if (wait_for_all() != 0) return 1;
    one_round();
  }
  return 7;
}

/* How many rounds the children did is what they exit with. */
static int execute_itself(const Until* end) {
  while (!is_over(end)) {
    if (fork() == 0) {
      execl("/proc/self/exe", "tree", "executed", (char*)NULL);
      _exit(0);
    }
    int status = 0;
    if (wait(&status) < 0 || WEXITSTATUS(status) != EXECUTED_ROUNDS) return 1;
    atomic_fetch_add(&shared->rounds, EXECUTED_ROUNDS);
  }
  return 7;
}

int main(int count, char** words) {
  const char* way = count > 1 ? words[1] : "";
  const Until end = until(count > 2 ? words[2] : "2");
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 1;
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(&shared->mutex, &attributes);
  int status = 1;
  if (strcmp(way, "pool") == 0) status = run_pool(&end, 0);
  if (strcmp(way, "killed") == 0) status = run_pool(&end, 1);
  if (strcmp(way, "requests") == 0) status = serve_requests(&end);
  if (strcmp(way, "lock") == 0) status = share_lock(&end);
  if (strcmp(way, "execs") == 0) status = execute_others(&end);
  if (strcmp(way, "executes") == 0) status = execute_itself(&end);
  if (strcmp(way, "executed") == 0) {
    while (atomic_load(&shared->rounds) < EXECUTED_ROUNDS) one_round();
    return EXECUTED_ROUNDS;
  }
  if (strcmp(way, "nested") == 0) {
    if (fork() == 0) {
      if (fork() == 0) exit(work_until(&end));
      exit(wait_for_all());
    }
    status = wait_for_all() == 0 ? 7 : 1;
  }
  if (strcmp(way, "outlives") == 0) {
    if (fork() == 0) {
      const Until later = {end.seconds + 2.5, NULL};
      exit(work_until(&later));
    }
    work_until(&end);
    status = 7;
  }
  printf("%ld rounds\n", atomic_load(&shared->rounds));
  return status;
}
