/* Loads libraries that use OpenMP, each for itself alone, and twice: openmp_loader ROUNDS
 * LIBRARY... */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char** words) {
  for (int i = 0; i < 2; i++) {
    void* libraries[8];
    for (int k = 2; k < count; k++) {
      libraries[k - 2] = dlopen(words[k], RTLD_NOW | RTLD_LOCAL);
      if (libraries[k - 2] == NULL) return fprintf(stderr, "%s\n", dlerror()), 1;
    }
    for (int k = 2; k < count; k++) {
      long (*work)(int) = (long (*)(int))dlsym(libraries[k - 2], "work");
      printf("%ld\n", work(atoi(words[1])));
    }
    for (int k = 2; k < count; k++) dlclose(libraries[k - 2]);
  }
  return 0;
}
