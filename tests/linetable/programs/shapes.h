// Code in a header: its lines must not be ascribed to the file that includes it.
#ifndef SHAPES_H
#define SHAPES_H

static inline __attribute__((always_inline)) int squared(int side) {
  int area = side;
  area *= side;
  return area + (area & 3);
}

static inline __attribute__((always_inline)) int surface(int side) {
  int total = 0;
  for (int i = 0; i < 6; ++i) {
    total += squared(side + i);
  }
  return total;
}

#endif
