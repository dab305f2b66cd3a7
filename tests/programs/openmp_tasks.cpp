// Every form of OpenMP's tasks and locks that we stand in for: prints a number that is known.
//   openmp_tasks [ROUNDS]
#include <omp.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "coz.h"

namespace {

// Is copied by a constructor, and must lie at a multiple of 64.
struct alignas(64) Copied {
  long value;
  explicit Copied(long of) : value(of) {}
  Copied(const Copied& other)
      : value(reinterpret_cast<std::uintptr_t>(this) % 64 == 0 ? other.value + 1 : 1000000) {}
};

long fibonacci(int n) {
  if (n < 2) return n;
  long a = 0, b = 0;
#pragma omp task shared(a) if (n > 4)
  a = fibonacci(n - 1);
#pragma omp task shared(b)
  b = fibonacci(n - 2);
#pragma omp taskwait
  return a + b;
}

long of_data() {
  long sum = 0;
  const Copied copied(10);
  for (int i = 0; i < 4; ++i) {
#pragma omp task firstprivate(copied, i) shared(sum) if (i < 2) priority(i)
    {
#pragma omp atomic
      sum += copied.value - 10 > 0 && copied.value < 100 ? i : 1000;
    }
  }
#pragma omp taskwait
  return sum;  // 6
}

long of_loops() {
  long sum = 0, reduced = 0, unsigned_sum = 0;
#pragma omp taskloop shared(sum) grainsize(3)
  for (int i = 0; i < 20; ++i) {
#pragma omp atomic
    sum += i;
  }
#pragma omp taskloop reduction(+ : reduced) num_tasks(5)
  for (int i = 0; i < 20; ++i) reduced += i;
#pragma omp taskgroup
  {
#pragma omp taskloop shared(unsigned_sum) nogroup
    for (unsigned long i = 0; i < 20; ++i) {
#pragma omp atomic
      unsigned_sum += static_cast<long>(i);
    }
  }
  return sum + reduced + unsigned_sum;  // 3 * 190
}

long in_order() {
  long x = 1, y = 0;
#pragma omp task shared(x) depend(out : x) untied
  x = 2;
#pragma omp task shared(x, y) depend(in : x) depend(out : y)
  y = x * 3;
#pragma omp taskwait depend(in : y)
  const long at_wait = y;
#pragma omp taskwait
  return at_wait;  // 6
}

long by_event() {
  long result = 0;
  omp_event_handle_t event{};
#pragma omp task detach(event) shared(result)
  {
#pragma omp task firstprivate(event) shared(result)
    {
      result = 5;
      omp_fulfill_event(event);
    }
  }
#pragma omp taskwait
  return result;  // 5
}

long locked(omp_lock_t* lock) {
  long sum = 0;
#pragma omp taskloop shared(sum)
  for (int i = 0; i < 20; ++i) {
    if (i % 2 == 0) {
      omp_set_lock(lock);
      sum += 1;
      omp_unset_lock(lock);
    } else {
      while (!omp_test_lock(lock)) {
      }
      sum += 1;
      omp_unset_lock(lock);
    }
  }
#pragma omp taskloop shared(sum)
  for (int i = 0; i < 20; ++i) {
#pragma omp critical
    sum += 1;
  }
  return sum;  // 40
}

}  // namespace

int main(int count, char** words) {
  const int rounds = count > 1 ? std::atoi(words[1]) : 100;
  omp_lock_t lock;
  omp_init_lock(&lock);
  long sum = 0;
  for (int round = 0; round < rounds; ++round) {
#pragma omp parallel num_threads(3)
#pragma omp single
    sum += fibonacci(12) + of_data() + of_loops() + in_order() + by_event() + locked(&lock);
    COZ_PROGRESS_NAMED("round");
  }
  std::printf("%ld\n", sum / rounds);  // 144 + 6 + 570 + 6 + 5 + 40
}
