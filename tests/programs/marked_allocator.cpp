// An allocator that has marks itself. Those that are visited while the profiler starts, which
// allocates, do nothing; the others are visited from main() on.
//
// marked_allocator SECONDS   prints how often main() has allocated
#include <coz.h>

#include <cstdio>
#include <cstdlib>

#include "until.h"

extern "C" void* __libc_malloc(size_t size);

static bool is_in_main = false;

extern "C" void* malloc(size_t size) {
  COZ_PROGRESS_NAMED("early");
  if (!is_in_main) return __libc_malloc(size);
  COZ_REGION("allocate");
  COZ_SCOPE("allocation");
  COZ_PROGRESS_NAMED("allocated");
  return __libc_malloc(size);
}

int main(int, char** arguments) {
  const Until end = until(arguments[1]);
  is_in_main = true;
  long blocks = 0;
  for (; !is_over(&end); ++blocks) {
    for (long i = 0; i < 100000; ++i) asm volatile("" : "+r"(i));
    void* block = malloc(64);
    asm volatile("" : "+r"(block));
    std::free(block);
    COZ_PROGRESS_NAMED("round");
  }
  std::printf("%ld\n", blocks);
}
