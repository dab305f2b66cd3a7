/* Turns of a loop in 0.4 s of processor time; two at once do fewer each if they share a core. */
#include <stdio.h>
#include <time.h>

static double processor_time(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec + 1e-9 * now.tv_nsec;
}

int main(void) {
  long turns = 0;
  while (processor_time() < 0.4) {
    for (int i = 0; i < 100000; ++i) __asm__ volatile("" : "+r"(i));
    ++turns;
  }
  printf("%ld\n", turns);
  return 0;
}
