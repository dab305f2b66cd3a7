#include <stdio.h>

#include "shapes.h"

int second_file(int n);

static __attribute__((noinline)) int busy(int n) {
  volatile int sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += surface(i);
    if (sum > 100000) sum -= squared(n);
  }
  return sum;
}

__attribute__((noinline)) int never_called(int n) {
  volatile int sum = n;
  while (sum < 1000) {
    sum += surface(sum);
  }
  return sum;
}

int main(int argc, char** argv) {
  (void)argv;
  printf("%d %d\n", busy(argc * 10), second_file(argc));
  return 0;
}
