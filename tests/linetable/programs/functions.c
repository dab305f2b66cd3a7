/* Functions of all kinds of symbols, without debug information wherever it is compiled without. */
#include <stdlib.h>

int by_hand_sized(void);
int by_hand_typed(void);
int by_hand_bare(void);
int by_hand_last(void);

__attribute__((noinline, cold)) static int rare(int n) {
  volatile int sum = n;
  for (int i = 0; i < n; ++i) sum += i;
  return sum;
}

__attribute__((noinline)) int exported(int n) {
  volatile int sum = n;
  if (n > 1000) abort();
  for (int i = 0; i < n; ++i) sum += i;
  return sum;
}
int __exported_too(int n) __attribute__((alias("exported")));

static int one(int n) { return n + 1; }
static int two(int n) { return n + 2; }
static int (*choose(void))(int) { return getenv("TWO") != 0 ? two : one; }
int chosen(int n) __attribute__((ifunc("choose")));

int main(int argc, char** argv) {
  (void)argv;
  return exported(argc) + __exported_too(argc) + rare(argc) + chosen(argc) + by_hand_sized() +
         by_hand_typed() + by_hand_bare() + by_hand_last();
}
