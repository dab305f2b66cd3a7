/* Sorting keeps its input, and writes the order anew. */
#include "../twice.h"

void __real_BZ2_blockSort(void* state);
void __wrap_BZ2_blockSort(void* state);

void __wrap_BZ2_blockSort(void* state) {
  TWICE("sort", __real_BZ2_blockSort(state), __real_BZ2_blockSort(state));
  twice_unit();
}
