/* Static variables that are stored to, and one on the stack that the next step waits for: where the
 * stack begins decides whether the load waits for a store that it has nothing to do with. After
 * Mytkowicz and others, and Melhus and Jensen (2014); there the loads are off the critical path,
 * which current processors forgive.
 *
 * With -DTOGETHER all of them are in one place on the stack, so that none is a multiple of 4096
 * bytes from another. With the argument
 * `position` it says where the array lies: address / 16, modulo 256, is its status.
 */
#include <stdint.h>
#include <stdlib.h>

#ifndef TOGETHER
static volatile int i, j, k;
#endif

int main(int argc, char** argv) {
  long rounds = argc > 1 ? atol(argv[1]) : 8000000;
#ifdef TOGETHER
  struct {
    volatile int ring[4];
    volatile int i, j, k;
  } all = {{1, 2, 3, 0}, 0, 0, 0};
#define ring all.ring
#define i all.i
#define j all.j
#define k all.k
#else
  _Alignas(16) volatile int ring[4] = {1, 2, 3, 0};
#endif
  if (argc > 1 && argv[1][0] == 'p') return (int)((uintptr_t)ring >> 4 & 255);
  int g = 0;
  for (long round = 0; round < rounds; ++round) {
    i += 1;
    j += 1;
    k += 1;
    g = ring[g];
  }
  return g < 0;
}
