#include "twice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static char doubled[64], clocked[64], log_path[512];
static int runs = 2;
static uint64_t units, first_time, last_time, region_time;

/* Regions of a microsecond take hardly longer than a system call, and are slower after one. Of
 * regions as short as this, in nanoseconds, every 16th is clocked, by the wall clock, which needs
 * none; what lies between two readings anyway is subtracted, and runs in which another thread had
 * the core do not count. */
enum { kShort = 20000, kInterrupted = 10 * kShort, kEvery = 16 };
static uint64_t inside_cost, clocked_runs;
static volatile int are_short;
static _Thread_local unsigned entered_runs;

static uint64_t now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void take(const char* name, char* value, size_t size) {
  const char* const text = getenv(name);
  if (text != NULL) snprintf(value, size, "%s", text);
}

static void measure_cost(void) {
  inside_cost = UINT64_MAX;
  for (int i = 0; i < 10000; i++) {
    const uint64_t entered = now(CLOCK_MONOTONIC);
    const uint64_t took = now(CLOCK_MONOTONIC) - entered;
    if (took < inside_cost) inside_cost = took;
  }
}

/* Copies, since some programs write over their environment. */
__attribute__((constructor)) static void read_environment(void) {
  take("TWICE", doubled, sizeof doubled);
  take("TWICE_CLOCK", clocked, sizeof clocked);
  take("TWICE_LOG", log_path, sizeof log_path);
  const char* const wanted = getenv("TWICE_RUNS");
  if (wanted != NULL) runs = atoi(wanted);
  if (clocked[0] != '\0') measure_cost();
}

int twice_runs(const char* region) { return strcmp(region, doubled) == 0 ? runs : 1; }

/* The lowest bit of what twice_enter() returns says which clock it is. */
uint64_t twice_enter(const char* region) {
  if (strcmp(region, clocked) != 0) return 0;
  if (!are_short) return now(CLOCK_THREAD_CPUTIME_ID) | 1;
  return ++entered_runs % kEvery == 0 ? now(CLOCK_MONOTONIC) & ~UINT64_C(1) : 0;
}

void twice_leave(uint64_t entered) {
  if (entered == 0) return;
  if (entered & 1) {
    const uint64_t ran = now(CLOCK_THREAD_CPUTIME_ID) - entered;
    const uint64_t all = __atomic_add_fetch(&region_time, ran, __ATOMIC_RELAXED);
    const uint64_t number = __atomic_add_fetch(&clocked_runs, 1, __ATOMIC_RELAXED);
    if (number == 1000) are_short = all < number * kShort;
    return;
  }
  const uint64_t ran = now(CLOCK_MONOTONIC) - entered;
  if (ran < inside_cost || ran > kInterrupted) return;
  __atomic_fetch_add(&region_time, kEvery * (ran - inside_cost), __ATOMIC_RELAXED);
}

void twice_unit(void) {
  COZ_PROGRESS_NAMED("unit");
  if (log_path[0] == '\0') return;
  const uint64_t time = now(CLOCK_MONOTONIC);
  uint64_t none = 0;
  __atomic_compare_exchange_n(&first_time, &none, time, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  __atomic_store_n(&last_time, time, __ATOMIC_RELAXED);
  __atomic_fetch_add(&units, 1, __ATOMIC_RELAXED);
}

__attribute__((destructor)) void twice_end(void) {
  if (log_path[0] == '\0' || units < 2) return;
  FILE* const log = fopen(log_path, "a");
  if (log == NULL) return;
  fprintf(log, "%llu %.9f %.9f %.9f\n", (unsigned long long)units - 1,
          (double)(last_time - first_time) * 1e-9, (double)now(CLOCK_PROCESS_CPUTIME_ID) * 1e-9,
          (double)region_time * 1e-9);
  fclose(log);
  log_path[0] = '\0';
}
