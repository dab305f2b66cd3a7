/* With library.c: what that has set up before main works on. */
#include "transparency.h"

int library_ends(void);

int main(void) {
  work(200);
  say("handlers set before main run", library_ends() == 10);
  return 0;
}
