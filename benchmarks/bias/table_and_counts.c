/* Counts in static memory, and a table on the stack with the same index, which says which one is
 * next: where the stack begins decides whether the table is a multiple of 4096 bytes from the
 * counts. Then a load follows a store with the same low address bits, whose address is known only
 * when that of the load is.
 *
 * With -DTOGETHER both are on the stack, side by side. With the argument `position` it says where
 * the table is: address / 16, modulo 256, is its status.
 */
#include <stdint.h>
#include <stdlib.h>

#ifndef TOGETHER
static _Alignas(16) volatile int counts[4];
#endif

int main(int argc, char** argv) {
  long rounds = argc > 1 ? atol(argv[1]) : 8000000;
#ifdef TOGETHER
  struct {
    _Alignas(16) volatile int table[4];
    volatile int counts[4];
  } all = {{1, 2, 3, 0}, {0}};
#define table all.table
#define counts all.counts
#else
  _Alignas(16) volatile int table[4] = {1, 2, 3, 0};
#endif
  if (argc > 1 && argv[1][0] == 'p') return (int)((uintptr_t)table >> 4 & 255);
  int at = 0;
  for (long round = 0; round < rounds; ++round) {
    counts[at] += 1;
    at = table[at];
  }
  return at < 0;
}
