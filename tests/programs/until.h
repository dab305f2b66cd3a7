// When a program of the tests ends. Its argument says it: after so many seconds, or `until:FILE`,
// as soon as the file is there, which a test makes once it has seen what it waits for.
#ifndef TESTS_PROGRAMS_UNTIL_H_
#define TESTS_PROGRAMS_UNTIL_H_

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// A program that nobody ends, its test having failed, ends by itself.
#define UNTIL_PATIENCE 90.0

typedef struct {
  double seconds;    // of the monotonic clock
  const char* file;  // NULL: none
} Until;

static inline double until_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static inline Until until(const char* argument) {
  const int has_file = strncmp(argument, "until:", 6) == 0;
  Until end;
  end.seconds = until_now() + (has_file ? UNTIL_PATIENCE : atof(argument));
  end.file = has_file ? argument + 6 : NULL;
  return end;
}

static inline int is_over(const Until* end) {
  return until_now() >= end->seconds || (end->file != NULL && access(end->file, F_OK) == 0);
}

#endif
