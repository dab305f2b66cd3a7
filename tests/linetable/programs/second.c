/* The same header, under another file number. */
#include <stdlib.h>
#include <string.h>

#include "shapes.h"

int second_file(int n) {
  char text[64];
  memset(text, n, sizeof(text));
  return squared(n) + surface(abs(text[n & 63]));
}
