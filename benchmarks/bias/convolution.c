/* A convolution from one block of the heap to another: allocators place both at the same offset in
 * a page, so that loads from one follow stores to the other with the same low address bits. After
 * Melhus and Jensen (2014).
 *
 * With -DPADDED the output begins half a page further in its block. With the argument `position` it
 * says how far apart the blocks are: by as many times 16 bytes, modulo 256, as its status.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { kLength = 131072, kPadding = 512 };

static const float weights[5] = {0.1F, 0.25F, 0.3F, 0.25F, 0.1F};

__attribute__((noinline)) static void convolve(int n, const float* input, float* output) {
  for (int i = 2; i < n - 2; ++i) {
    output[i] = 0;
    for (int j = 0; j < 5; ++j) output[i] += input[i - 2 + j] * weights[j];
  }
}

int main(int argc, char** argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 100;
  float* input = malloc(kLength * sizeof *input);
  float* output = malloc((kLength + kPadding) * sizeof *output);
  if (!input || !output) return 1;
  if (argc > 1 && argv[1][0] == 'p') {
    return (int)(((uintptr_t)output - (uintptr_t)input) >> 4 & 255);
  }
  float* into = output;
#ifdef PADDED
  into += kPadding;
#endif
  for (int i = 0; i < kLength; ++i) input[i] = (float)(i & 255);
  memset(output, 0, (kLength + kPadding) * sizeof *output);
  for (int round = 0; round < rounds; ++round) convolve(kLength, input, into);
  return into[17] < -1;
}
