/* Runs a function of a real program twice or more often, as one region. Where it runs twice, the
 * region's 50 % point must give back the speed of the program with one run.
 *
 * A wrapper (wrappers/NAME.c, linked by -Wl,--wrap=FUNCTION) calls the function by TWICE and
 * reports each finished unit of work by twice_unit(). Environment:
 *
 *   TWICE=REGION         the region that runs twice; all others run once
 *   TWICE_RUNS=N         it runs so often instead
 *   TWICE_LOG=FILE       at the end one line: units after the first, seconds from the first to the
 *                        last, processor seconds of the process, and of the region TWICE_CLOCK
 *   TWICE_CLOCK=REGION   measure this region's processor time; of short runs every 16th
 *
 * Thread-safe. Time is counted in nanoseconds. */
#ifndef BENCHMARKS_DOUBLING_TWICE_H
#define BENCHMARKS_DOUBLING_TWICE_H

#include <coz.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How often does this region run? */
int twice_runs(const char* region);

/* Processor time of this thread, if this region is clocked; 0 otherwise. */
uint64_t twice_enter(const char* region);
void twice_leave(uint64_t entered);

/* A unit of work is done: the progress point "unit". */
void twice_unit(void);

/* Writes the log: for programs that end by _exit(), which runs no destructors. */
void twice_end(void);

#ifdef __cplusplus
}
#endif

/* Runs `last`, after `again` as often as is to be added: the same work without lasting effect. */
#define TWICE(region, again, last)                       \
  do {                                                   \
    const uint64_t twice_entered_ = twice_enter(region); \
    COZ_REGION_BEGIN(region);                            \
    for (int i_ = twice_runs(region); i_ > 1; i_--) {    \
      again;                                             \
    }                                                    \
    last;                                                \
    COZ_REGION_END(region);                              \
    twice_leave(twice_entered_);                         \
  } while (0)

#endif /* BENCHMARKS_DOUBLING_TWICE_H */
