// Time spent in the C library, for calls in this file: copying from two places, sorting by a
// function that lies outside the scope, too. Prints the share of each call by the thread's clock:
// library_time SECONDS
#include <coz.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#include "outside_scope.h"

namespace {

constexpr std::size_t kBytes = 256 * 1024;  // stays in the cache, so that copying is even
constexpr std::size_t kNumbers = 4000;

double now(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

std::vector<char> source(kBytes, 1);
std::vector<char> target(kBytes);
std::vector<int> numbers(kNumbers);

void copy_thrice() {
  for (int i = 0; i < 30; ++i) {
    memcpy(target.data(), source.data(), kBytes);  // COPY THRICE
    asm volatile("" ::: "memory");
  }
}

void copy_once() {
  for (int i = 0; i < 10; ++i) {
    memcpy(target.data(), source.data(), kBytes);  // COPY ONCE
    asm volatile("" ::: "memory");
  }
}

void sort() {
  for (int i = 0; i < 4; ++i) {
    unsigned next = 1;
    for (int& number : numbers) number = static_cast<int>(next = next * 1103515245U + 12345U);
    qsort(numbers.data(), kNumbers, sizeof(int), compare_numbers);  // SORT
  }
}

template <typename Part>
double timed(Part part) {
  const double before = now(CLOCK_THREAD_CPUTIME_ID);
  part();
  return now(CLOCK_THREAD_CPUTIME_ID) - before;
}

}  // namespace

int main(int, char** arguments) {
  const double end = now(CLOCK_MONOTONIC) + std::atof(arguments[1]);
  double thrice = 0;
  double once = 0;
  double sorting = 0;
  while (now(CLOCK_MONOTONIC) < end) {
    thrice += timed(copy_thrice);
    once += timed(copy_once);
    sorting += timed(sort);
    COZ_PROGRESS_NAMED("round");
  }
  const double sum = thrice + once + sorting;
  std::printf("%.4f %.4f %.4f\n", thrice / sum, once / sum, sorting / sum);
}
