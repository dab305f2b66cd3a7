/* Loads a library that uses OpenMP for itself alone, twice: openmp_loader LIBRARY ROUNDS */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char** words) {
  for (int i = 0; i < 2; i++) {
    void* library = dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return fprintf(stderr, "%s\n", dlerror()), 1;
    long (*work)(int) = (long (*)(int))dlsym(library, "work");
    printf("%ld\n", work(atoi(words[2])));
    dlclose(library);
  }
  return count != 3;
}
