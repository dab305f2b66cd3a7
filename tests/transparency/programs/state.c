/* What a computation has in hand is the same whatever interrupts it: errno, rounding, exceptions,
 * vector registers, the x87. */
#include <errno.h>
#include <fenv.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include "transparency.h"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int over;

static void* contends(void* argument) {
  while (!over) {
    pthread_mutex_lock(&mutex);
    work(1);
    pthread_mutex_unlock(&mutex);
    /* Long enough for the one that waits: mutexes are not fair. */
    for (volatile int i = 0; i < 100000; i = i + 1) {
    }
  }
  return argument;
}

/* Locks, marks and samples in between. */
static void disturb(void) {
  pthread_mutex_lock(&mutex);
  for (volatile int i = 0; i < 300000; i = i + 1) {
  }
  COZ_PROGRESS_NAMED("disturbed");
  pthread_mutex_unlock(&mutex);
}

static int keeps_errno(void) {
  for (int i = 1; i < 100; i++) {
    errno = i;
    disturb();
    if (errno != i) return 0;
  }
  return 1;
}

static int keeps_rounding(void) {
  static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST};
  int kept = 1;
  for (int i = 0; i < 40; i++) {
    fesetround(modes[i % 4]);
    volatile long double exact = 1;
    disturb();
    volatile long double third = exact / 3;
    const long double again = exact / 3;
    kept = kept && fegetround() == modes[i % 4] && third == again;
  }
  fesetround(FE_TONEAREST);
  return kept;
}

static int keeps_flags(void) {
  feclearexcept(FE_ALL_EXCEPT);
  feraiseexcept(FE_OVERFLOW);
  for (int i = 0; i < 30; i++) disturb();
  return fetestexcept(FE_ALL_EXCEPT) == (FE_OVERFLOW | (fetestexcept(FE_INEXACT)));
}

/* No arithmetic of the profiler's may raise what the program has made a trap of. */
static int takes_traps(void) {
  fenv_t before;
  feholdexcept(&before);
  feclearexcept(FE_ALL_EXCEPT);
  feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW | FE_UNDERFLOW | FE_INEXACT);
  for (int i = 0; i < 30; i++) disturb();
  fesetenv(&before);
  return 1;
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static int keeps_wide_vectors(void) {
  const __m256i wanted = _mm256_set_epi64x(1, 2, 3, 4);
  register __m256i a = wanted, b = _mm256_slli_epi64(wanted, 8);
  for (long i = 0; i < 60000000; i++) __asm__ volatile("" : "+x"(a), "+x"(b));
  const __m256i back = _mm256_srli_epi64(b, 8);
  return _mm256_movemask_epi8(_mm256_and_si256(_mm256_cmpeq_epi64(a, wanted),
                                               _mm256_cmpeq_epi64(back, wanted))) == -1;
}

static int keeps_vectors(void) {
  const __m128i wanted = _mm_set_epi64x(1, 2);
  register __m128i a = wanted;
  for (long i = 0; i < 60000000; i++) __asm__ volatile("" : "+x"(a));
  if (_mm_movemask_epi8(_mm_cmpeq_epi8(a, wanted)) != 0xffff) return 0;
  return __builtin_cpu_supports("avx2") ? keeps_wide_vectors() : 1;
}

/* The red zone below the stack pointer, and the x87's stack of registers. */
static int keeps_x87(void) {
  long double sum = 0;
  __asm__ volatile("fld1\n fldpi\n fldl2e" ::: "st", "st(1)", "st(2)");
  for (volatile long i = 0; i < 30000000; i = i + 1) {
  }
  __asm__ volatile("faddp\n faddp" : "=t"(sum)::"st(1)", "st(2)");
  const long double difference = sum - (1 + 3.14159265358979323846L + 1.44269504088896340736L);
  return difference < 1e-15L && difference > -1e-15L;
}
#else
static int keeps_vectors(void) { return 1; }
static int keeps_x87(void) { return 1; }
#endif

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, contends, NULL);
  work(150);
  say("errno", keeps_errno());
  say("rounding", keeps_rounding());
  say("flags of floating point", keeps_flags());
  say("traps of floating point", takes_traps());
  say("vector registers", keeps_vectors());
  say("registers of the x87", keeps_x87());
  over = 1;
  pthread_join(thread, NULL);
  return 0;
}
