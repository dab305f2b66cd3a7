/* Half a millisecond of work in one line and a progress point, until its time is over; then the
 * given end. loop SECONDS [exit STATUS | raise SIGNAL] */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "until.h"
#ifdef CLASSIC
#include "classic_coz.h"
#define PROGRESS                             \
  CLASSIC_COUNT(CLASSIC_BEGIN, "request");   \
  CLASSIC_COUNT(CLASSIC_THROUGHPUT, "loop"); \
  CLASSIC_COUNT(CLASSIC_END, "request")
#elif defined(NO_PROGRESS)
#define PROGRESS
#else
#include <coz.h>
#define PROGRESS COZ_PROGRESS_NAMED("loop")
#endif

static void work(void) {
  for (volatile int i = 0; i < 250000; i = i + 1) {
  }
}

int main(int argc, char** argv) {
  const Until end = until(argc > 1 ? argv[1] : "1");
  printf("out: %s\n", argc > 2 ? argv[2] : "");
  fflush(stdout);
  fprintf(stderr, "err\n");
  while (!is_over(&end)) {
    work();
    PROGRESS;
  }
  if (argc > 3 && strcmp(argv[2], "exit") == 0) return atoi(argv[3]);
  if (argc > 3 && strcmp(argv[2], "raise") == 0) raise(atoi(argv[3]));
  return 0;
}
