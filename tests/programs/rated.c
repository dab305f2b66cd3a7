/* Visits points a known number of times: rated STEPS [MICROSECONDS]
 *
 * Two threads make STEPS steps each; a child that is forked makes as many. Each step is an
 * operation of about MICROSECONDS. The process ends by _exit. */
#include <coz.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int steps;
static int pause_time;

static void* work(void* unused) {
  for (int i = 0; i < steps; i++) {
    COZ_BEGIN("step");
    if (pause_time > 0) usleep((useconds_t)pause_time);
    COZ_END("step");
    COZ_PROGRESS_NAMED("done");
    COZ_PROGRESS;
  }
  return unused;
}

int main(int argc, char** argv) {
  pthread_t thread;
  steps = argc > 1 ? atoi(argv[1]) : 100;
  pause_time = argc > 2 ? atoi(argv[2]) : 0;
  if (pthread_create(&thread, NULL, work, NULL) != 0) return 1;
  work(NULL);
  pthread_join(thread, NULL);
  const pid_t child = fork();
  if (child < 0) return 1;
  if (child == 0) {
    work(NULL);
    exit(0);
  }
  if (waitpid(child, NULL, 0) != child) return 1;
  _exit(0);
}
