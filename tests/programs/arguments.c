/* Prints its arguments, one a line in brackets, then copies standard input. */
#include <coz.h>
#include <stdio.h>

int main(int argc, char** argv) {
  for (int i = 1; i < argc; i++) printf("[%s]\n", argv[i]);
  for (int c; (c = getchar()) != EOF;) putchar(c);
  COZ_PROGRESS;
  return 0;
}
