// Everything in C whose address matters: prints the same wherever its functions lie.
//
// With the argument "where", it prints which parts of it run outside of the place where they were
// linked.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char __executable_start, etext;
static volatile int zero;
static __thread int per_thread = 40;
static int initialised;

// Whether the code that this is inlined into runs outside of the program's own text.
static inline __attribute__((always_inline)) int is_outside(void) {
  char* here;
  __asm__ volatile("lea 0f(%%rip), %0\n0:" : "=r"(here));
  return here < &__executable_start || here >= &etext;
}

__attribute__((constructor)) static void initialise(void) { initialised = 7 + zero; }
__attribute__((destructor)) static void finish(void) { puts("destructor"); }
static void at_exit(void) { puts("atexit"); }

__attribute__((noinline)) int plain(int x) {
  __asm__ volatile("");
  return is_outside() ? 1000 + x : x;
}

// A jump table.
__attribute__((noinline)) int switched(int x, int* outside) {
  switch (x) {
    case 0:
      *outside += is_outside();
      return 17;
    case 1:
      *outside += is_outside();
      return (int)strlen("twelve chars");
    case 2:
      return zero + 3;
    case 3:
      *outside += is_outside();
      return getpid() > 0 ? 5 : 6;
    case 4:
      return x * 77 + zero;
    case 5:
      *outside += is_outside();
      return (int)strtol("99", NULL, 10);
    case 6:
      return 12 - zero;
    case 7:
      return abs(zero - 8);
    case 8:
      return 1 << (zero + 4);
    case 9:
      *outside += is_outside();
      return 41;
    default:
      return -1;
  }
}

// Addresses of labels in a table, in a variable, and as differences.
__attribute__((noinline)) int computed(const unsigned char* code, int* outside) {
  static const void* const labels[] = {&&add, &&subtract, &&twice, &&done};
  static const int distances[] = {&&add - &&add, &&subtract - &&add, &&twice - &&add,
                                  &&done - &&add};
  void* first = &&add;
  int value = 1;
  if (zero) goto* first;
  goto* labels[*code];
add:
  value += 5;
  *outside += is_outside();
  goto* labels[*++code];
subtract:
  value -= 2;
  goto*(void*)((char*) && add + distances[*++code]);
twice:
  value *= 2;
  *outside += is_outside();
  goto* labels[*++code];
done:
  return value;
}

__attribute__((noinline)) int recursive(int n) { return n < 2 ? 1 : n * recursive(n - 1) + zero; }
static int odd(unsigned n);
__attribute__((noinline)) static int even(unsigned n) { return n == 0 ? 1 : odd(n - 1); }
__attribute__((noinline)) static int odd(unsigned n) { return n == 0 ? 0 : even(n - 1); }

static int chosen_fast(int x) { return x + 100; }
static int chosen_slow(int x) { return x + 200; }
__attribute__((used)) static int (*choose(void))(int) { return zero ? chosen_slow : chosen_fast; }
int by_ifunc(int) __attribute__((ifunc("choose")));

static int compare(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }
static volatile sig_atomic_t signalled, signal_outside;
static void handler(int number) {
  signalled = number;
  signal_outside = is_outside();
}

static jmp_buf back;
__attribute__((noinline, noreturn)) static void leap(int x) { longjmp(back, x + 1); }

static int thread_outside;
static void clean(void* text) { printf("cleanup %s\n", (char*)text); }
static void* thread(void* argument) {
  per_thread += *(int*)argument;
  thread_outside += is_outside();
  pthread_cleanup_push(clean, "in thread");
  if (*(int*)argument == 2) pthread_exit((void*)(intptr_t)per_thread);
  pthread_cleanup_pop(0);
  return (void*)(intptr_t)per_thread;
}

static int (*const functions[])(int) = {plain, recursive};
static __attribute__((noinline)) int same_pointer(int (*function)(int)) {
  return function == plain;
}

int main(int count, char** arguments) {
  const int where = count > 1 && strcmp(arguments[1], "where") == 0;
  int outside = 0, sum = 0, label_outside = 0;
  atexit(at_exit);
  for (int i = -1; i < 11; ++i) sum += switched(i, &outside);
  const unsigned char code[] = {0, 2, 1, 0, 2, 2, 3};
  const int value = computed(code, &label_outside);
  printf("switch %d computed %d recursive %d even %d ifunc %d init %d\n", sum, value, recursive(6),
         even(11), by_ifunc(1), initialised);
  int numbers[] = {5, 3, 9, 1, 7};
  qsort(numbers, 5, sizeof *numbers, compare);
  printf("sorted %d %d %d pointer %d %d table %d\n", numbers[0], numbers[2], numbers[4],
         same_pointer(plain), same_pointer(recursive), functions[1 + zero](5));
  int (*symbol)(int) = (int (*)(int))dlsym(RTLD_DEFAULT, "plain");
  printf("symbol %d\n", symbol == NULL || symbol == plain);
  signal(SIGUSR1, handler);
  raise(SIGUSR1);
  const int jumped = setjmp(back);
  if (jumped == 0) leap(4 + zero);
  printf("signal %d jumped %d\n", (int)signalled, jumped);
  for (int i = 1; i < 3; ++i) {
    pthread_t id;
    void* result = NULL;
    if (pthread_create(&id, NULL, thread, &i) != 0) return 1;
    pthread_join(id, &result);
    printf("thread %d\n", (int)(intptr_t)result);
  }
  printf("tls %d\n", per_thread);
  if (where) {
    printf("outside: plain %d pointer %d main %d switch %d labels %d thread %d signal %d\n",
           plain(0) == 1000, functions[zero](0) == 1000, is_outside(), outside, label_outside,
           thread_outside, (int)signal_outside);
  }
  return 3;
}
