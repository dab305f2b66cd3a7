/* A program with a tool of its own for OpenMP's library: prints whether the library has asked it.
 */
#include <stdio.h>

static int asked = 0;

void* ompt_start_tool(unsigned version, const char* library) {
  (void)version;
  (void)library;
  asked++;
  return NULL;
}

int main(void) {
  int sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 10; i++) sum += i;
  printf("%d %d\n", sum, asked);
  return 0;
}
