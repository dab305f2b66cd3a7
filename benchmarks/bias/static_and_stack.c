/* Static variables that are stored to, and one on the stack that the next step waits for: where the
 * stack begins decides whether the load waits for a store that it has nothing to do with. After
 * Mytkowicz and others, and Melhus and Jensen (2014); there the loads are off the critical path,
 * which current processors forgive.
 *
 * With the argument `position` it says where the array is: address / 16, modulo 256, is its status.
 */
#include <stdint.h>
#include <stdlib.h>

static volatile int i, j, k;

int main(int argc, char** argv) {
  long rounds = argc > 1 ? atol(argv[1]) : 8000000;
  _Alignas(16) volatile int ring[4] = {1, 2, 3, 0};
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
