/* OpenMP's locks without the rest, as in a library of serial stubs: with -DSTUBS that library, else
 * a program that uses it. */
#ifdef STUBS
void omp_set_lock(int* lock) { ++*lock; }
void omp_unset_lock(int* lock) { --*lock; }
#else
#include <stdio.h>

void omp_set_lock(int* lock);
void omp_unset_lock(int* lock);

int main(void) {
  int lock = 0;
  omp_set_lock(&lock);
  printf("%d", lock);
  omp_unset_lock(&lock);
  printf("%d\n", lock);
  return 0;
}
#endif
