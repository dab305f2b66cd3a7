// Code that the kernel or the loader brings: time spent in the vDSO, and in functions that the
// loader chooses (ifuncs), belongs to the line that calls them.
#define _GNU_SOURCE
#include <coz.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void chosen_body(long units) {
  for (long i = 0; i < units; ++i) __asm__ volatile("" : "+r"(i));  // CHOSEN
}

static void (*choose(void))(long) { return chosen_body; }
void chosen(long units) __attribute__((ifunc("choose")));

int main(int count, char** arguments) {
  static char from[1 << 16], to[1 << 16];
  const double end = now() + atof(arguments[1]);
  const char* way = count > 2 ? arguments[2] : "";
  while (now() < end) {
    if (!strcmp(way, "clock")) {
      struct timespec time;
      for (int i = 0; i < 10000; ++i) {
        clock_gettime(CLOCK_MONOTONIC, &time);  // CLOCK
      }
    }
    if (!strcmp(way, "copy")) {
      for (int i = 0; i < 1000; ++i) {
        memcpy(to, from, sizeof to);  // COPY
        __asm__ volatile("" : : "r"(to) : "memory");
      }
    }
    if (!strcmp(way, "chosen")) chosen(1000000);
    COZ_PROGRESS;
  }
}
