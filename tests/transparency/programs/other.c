/* What exec.c becomes: says who it is. */
#include <stdio.h>
#include <unistd.h>

int main(void) {
  printf("another program, user %d, effective %d\n", (int)getuid(), (int)geteuid());
  return 8;
}
