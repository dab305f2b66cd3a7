// Twenty lines that take equally long, one after another, for so many seconds.
#include <coz.h>
#include <stdlib.h>
#include <time.h>

#define STEP()                               \
  for (volatile int i = 0; i < 20000; ++i) { \
  }

static void round_of_work(void) {
  STEP();
  STEP();
  STEP();
  STEP();
  STEP();
  STEP();
  STEP();
  STEP();
  STEP();
  STEP();
  STEP();
  STEP();
  STEP();
  STEP();
  STEP();
  STEP();
  STEP();
  STEP();
  STEP();
  STEP();
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int argc, char** argv) {
  const double end = now() + (argc > 1 ? atof(argv[1]) : 1);
  while (now() < end) {
    round_of_work();
    COZ_PROGRESS_NAMED("round");
  }
}
