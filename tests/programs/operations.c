/* Operations that begin in one thread and end in another: nine of ten take 4 ms, the last one 40.
 *
 * operations SECONDS
 *
 * A pipe hands each over to the second thread. They follow each other so slowly that none waits for
 * it. Besides, "lost" ends without a begin as often. Prints how many operations there were. */
#include <coz.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "until.h"

static int channel[2];

static void sleep_milliseconds(long milliseconds) {
  const struct timespec time = {0, milliseconds * 1000000};
  nanosleep(&time, NULL);
}

static void* end_operations(void* unused) {
  long id;
  while (read(channel[0], &id, sizeof id) == sizeof id) {
    sleep_milliseconds(id % 10 == 9 ? 40 : 4);
    COZ_END_ID("request", id);
    COZ_END_ID("lost", id);
  }
  return unused;
}

int main(int argc, char** argv) {
  if (argc != 2 || pipe(channel) != 0) return 2;
  const Until end = until(argv[1]);
  COZ_BEGIN_ID("lost", -1L);
  pthread_t other;
  pthread_create(&other, NULL, end_operations, NULL);
  long id = 0;
  volatile long work = 0;
  for (; !is_over(&end); ++id) {
    COZ_BEGIN_ID("request", id);
    if (write(channel[1], &id, sizeof id) != sizeof id) return 2;
    for (long i = 0; i < 1000000; ++i) work = work + i;
    COZ_PROGRESS_NAMED("round");
    sleep_milliseconds(id % 10 == 9 ? 60 : 8);
  }
  close(channel[1]);
  pthread_join(other, NULL);
  printf("%ld\n", id);
  return 0;
}
