// Places whose passes are to be counted; see places_test.cpp.
#include <cstdio>
#include <cstdlib>

static volatile int sink;

namespace shop {

struct Till {
  int total = 0;
  __attribute__((noinline)) void pay(int amount) { total += amount; }
  __attribute__((noinline)) void pay(double amount) { total += static_cast<int>(amount); }
};

__attribute__((noinline)) int once(int n) { return n * 7 + sink; }

static inline __attribute__((always_inline)) int inlined(int n) {
  sink = n;  // INLINED
  return n + sink;
}

}  // namespace shop

__attribute__((noinline)) int turn(int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += sink;  // BODY
    if (sum > 1000) {
      sum -= shop::once(sum);  // RARE
    }
  }
  return sum;
}

__attribute__((noinline)) void wait_until(int n) {
  while (sink < n) sink = sink + 1;
}

// A line without code but what is inlined from other lines.
__attribute__((noinline)) int rounds(int n) {
  int sum = 0;
  while (--n > 0) {
    sum += shop::inlined(n);  // CALL
  }
  return sum;
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 10;
  shop::Till till;
  till.pay(n);
  till.pay(1.5);
  wait_until(n);
  std::printf("%d\n", turn(n) + till.total + shop::inlined(n) + shop::inlined(n + 1) + rounds(n));
  return 0;
}
