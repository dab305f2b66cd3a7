/* What a program built against the classic tool's header contains, in our own words: progress
 * points that look up _coz_get_counter and then count by themselves. For tests of binary
 * compatibility. */
#ifndef CLASSIC_COZ_H
#define CLASSIC_COZ_H

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

struct classic_counter {
  size_t count;
  size_t backoff;
};

enum { CLASSIC_THROUGHPUT = 1, CLASSIC_BEGIN = 2, CLASSIC_END = 3 };

__attribute__((unused)) static struct classic_counter* classic_find(int type, const char* name) {
  struct classic_counter* (*get)(int, const char*) = NULL;
  void* symbol = dlsym(RTLD_DEFAULT, "_coz_get_counter");
  memcpy(&get, &symbol, sizeof get);
  return get ? get(type, name) : NULL;
}

#define CLASSIC_COUNT(type, name)                                          \
  do {                                                                     \
    static int looked_up = 0;                                              \
    static struct classic_counter* counter = NULL;                         \
    if (!looked_up) {                                                      \
      looked_up = 1;                                                       \
      counter = classic_find(type, name);                                  \
    }                                                                      \
    if (counter) __atomic_add_fetch(&counter->count, 1, __ATOMIC_RELAXED); \
  } while (0)

#endif
