// Inlined functions whose first instructions an optimiser moves out of the loop that calls them,
// and lines that only call those. Each function is called as often as the argument says.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double table[64];
static int numbers[256];

static inline double scaled(double x, int n, double scale) {
  double factor = scale * 1.5 + 3.0 / scale;
  for (int i = 0; i < n; i++) x = x * factor + table[i & 63];
  return x;
}

static inline int mixed(int x, int key) {
  if (key > 100) return x + 1;
  return x ^ (key * 77);
}

static inline unsigned hashed(unsigned hash, const char* text) {
  while (*text) hash = hash * 31 + (unsigned char)*text++;
  return hash;
}

static inline double normed(double* values, int n, double k) {
  double inverse = 1.0 / sqrt(k);
  double sum = 0;
  for (int i = 0; i < n; i++) {
    values[i] = values[i] * inverse;
    sum += values[i];
  }
  return sum;
}

static inline int found(const int* values, int n, int wanted) {
  for (int i = 0; i < n; i++) {
    if (values[i] == wanted) return i;
  }
  return -1;
}

int main(int count, char** arguments) {
  static double values[1000];
  const long rounds = atol(arguments[1]);
  const double scale = count > 2 ? atof(arguments[2]) : 0.1;
  double x = 1;
  int y = 3;
  unsigned hash = 1;
  for (long i = 0; i < rounds; i++) {
    x = scaled(x, 100, scale);  // scaled
  }
  for (long i = 0; i < rounds; i++) {
    y = mixed(y, count * 60);  // mixed
  }
  for (long i = 0; i < rounds; i++) {
    hash = hashed(hash, arguments[0]);  // hashed
  }
  for (long i = 0; i < rounds; i++) {
    x += normed(values, 100, scale);  // normed
  }
  for (long i = 0; i < rounds; i++) {
    y += found(numbers, 256, (int)i);  // found
  }
  printf("%g %d %u\n", x, y, hash);
}
