// Handles the signal argv[1] and sends it to itself. Prints how often it came.
#include <coz.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static volatile sig_atomic_t came;

static void handle(int signal) {
  (void)signal;
  came++;
}

int main(int count, char** arguments) {
  const int number = count > 1 ? atoi(arguments[1]) : SIGUSR1;
  signal(number, handle);
  for (volatile long i = 0; i < 50000000; ++i) {
    if (i % 1000000 == 0) COZ_PROGRESS;
  }
  raise(number);
  printf("came %d\n", (int)came);
  return 0;
}
