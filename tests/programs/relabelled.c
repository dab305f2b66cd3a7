// What a program may do with addresses of labels and with stack traces while its functions are
// moved again and again (--rerandomize): it keeps addresses and compares them, changes its table,
// and is interrupted anywhere. Status 0 if all came out as it must.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unwind.h>

#define SECONDS 0.6

static volatile long interrupted, short_traces;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static _Unwind_Reason_Code count(struct _Unwind_Context* context, void* data) {
  (void)context;
  ++*(int*)data;
  return _URC_NO_REASON;
}

static void trace(int signal) {
  (void)signal;
  int frames = 0;
  _Unwind_Backtrace(count, &frames);
  ++interrupted;
  // This one, the signal's, what was interrupted, its callers up to main, and libc's.
  if (frames < 5) ++short_traces;
}

__attribute__((noinline)) static long small(long x) {
  asm volatile("" : "+r"(x));
  return x + 1;
}

// Runs a program of ops by threaded code: 0 adds, 1 subtracts, 2 ends. The table changes meanwhile.
__attribute__((noinline)) static long threaded(const int* ops) {
  static void* table[] = {&&add, &&subtract, &&end, &&add};
  const char* const base = table[0];  // kept while functions move
  long value = 0;
  const void* at;
next:
  at = base + ((char*)table[*ops] - (char*)table[0]);
  if (table[*ops] == &&end && *ops != 2) return -1;
  ++ops;
  goto* at;
add:
  value = small(value);
  table[3] = value % 2 ? &&end : &&subtract;
  goto next;
subtract:
  value = small(value) - 2;
  goto next;
end:
  return table[2] == &&end ? value : -2;
}

int main(void) {
  int ops[1001];
  for (int i = 0; i < 1000; ++i) ops[i] = i % 3 == 0;
  ops[1000] = 2;
  const long expected = 1000 - 2 * 334;
  signal(SIGALRM, trace);
  const struct itimerval often = {{0, 500}, {0, 500}};
  setitimer(ITIMER_REAL, &often, 0);
  long wrong = 0, runs = 0;
  for (const double begin = now(); now() - begin < SECONDS; ++runs)
    wrong += threaded(ops) != expected;
  const struct itimerval never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &never, 0);
  fprintf(stderr, "%ld of %ld runs wrong, %ld of %ld traces short\n", wrong, runs, short_traces,
          interrupted);
  return wrong != 0 || short_traces != 0 || interrupted == 0;
}
