/* Reads a block from a slow device (a sleep stands in for it) and works on it, over and over. */
#include <coz.h>
#include <time.h>

#include "until.h"

static void read_block(void) {
  const struct timespec time = {0, 2000000};
  nanosleep(&time, NULL); /* WAIT */
}

static void work(void) {
  for (long i = 0; i < 300000; ++i) __asm__ volatile("" : "+r"(i));
}

int main(int argc, char** argv) {
  const Until end = until(argc > 1 ? argv[1] : "1");
  while (!is_over(&end)) {
    read_block();
    work();
    COZ_PROGRESS_NAMED("block");
  }
  return 0;
}
