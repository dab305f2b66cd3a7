/* Sorting keeps its input, and writes the order anew. The program ends by _exit(). */
#include "../twice.h"

int32_t __real_divbwt(uint8_t* text, int32_t* order, int32_t length);
int32_t __wrap_divbwt(uint8_t* text, int32_t* order, int32_t length);

int32_t __wrap_divbwt(uint8_t* text, int32_t* order, int32_t length) {
  int32_t first;
  TWICE("sort", __real_divbwt(text, order, length), first = __real_divbwt(text, order, length));
  twice_unit();
  return first;
}

void __real__exit(int status) __attribute__((noreturn));
void __wrap__exit(int status) __attribute__((noreturn));

void __wrap__exit(int status) {
  twice_end();
  __real__exit(status);
}
