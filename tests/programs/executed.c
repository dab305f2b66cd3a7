/* Takes jobs of a byte from its standard input until there are no more. */
#include <unistd.h>

#include "coz.h"

int main(void) {
  char job;
  while (read(STDIN_FILENO, &job, 1) == 1) {
    for (volatile int i = 0; i < 300000; i = i + 1) { /* WORK */
    }
    COZ_PROGRESS_NAMED("round");
  }
  return 0;
}
