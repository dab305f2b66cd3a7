// Fixed amounts of work, whose time with and without the profiler is compared.
//
// workloads NAME UNITS: does UNITS units of the work NAME and prints "work SECONDS", the real time
// that they took, without the start of the process. A unit takes roughly a microsecond to a
// hundred; the caller finds out how many make a second. Without arguments: prints the names.
#include <coz.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

namespace {

constexpr int kThreads = 2;

// The counter stays in a register: about one iteration a cycle.
__attribute__((noinline)) void spin(std::size_t iterations) {
  for (std::size_t i = 0; i < iterations; ++i) asm volatile("" : "+r"(i));
}

template <typename Work>
void in_threads(Work work) {
  std::array<std::thread, kThreads> threads;
  for (int number = 0; number < kThreads; ++number) {
    threads[static_cast<std::size_t>(number)] = std::thread(work, number);
  }
  for (std::thread& thread : threads) thread.join();
}

// Two threads that compute and have nothing to do with each other.
void compute(std::size_t units) {
  in_threads([units](int) {
    for (std::size_t i = 0; i < units; ++i) {
      spin(100'000);
      COZ_PROGRESS_NAMED("compute");
    }
  });
}

// Two threads and one mutex: ten times more work outside of it than inside.
void mutex(std::size_t units) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static std::size_t shared = 0;
  in_threads([units](int) {
    for (std::size_t i = 0; i < units; ++i) {
      pthread_mutex_lock(&lock);
      ++shared;
      spin(200);
      pthread_mutex_unlock(&lock);
      spin(2000);
      if (i % 1000 == 0) COZ_PROGRESS_NAMED("locked");
    }
  });
}

// Two threads that meet at a barrier after each round of work.
void barrier(std::size_t units) {
  static pthread_barrier_t round_end;
  pthread_barrier_init(&round_end, nullptr, kThreads);
  in_threads([units](int number) {
    for (std::size_t i = 0; i < units; ++i) {
      spin(number == 0 ? 400'000 : 380'000);
      pthread_barrier_wait(&round_end);
      if (number == 0) COZ_PROGRESS_NAMED("round");
    }
  });
  pthread_barrier_destroy(&round_end);
}

// A bounded queue between a thread that produces and one that consumes.
class Queue {
 public:
  void put() {
    pthread_mutex_lock(&mutex_);
    while (size_ == kMaxSize) pthread_cond_wait(&not_full_, &mutex_);
    ++size_;
    pthread_cond_signal(&not_empty_);
    pthread_mutex_unlock(&mutex_);
  }
  void take() {
    pthread_mutex_lock(&mutex_);
    while (size_ == 0) pthread_cond_wait(&not_empty_, &mutex_);
    --size_;
    pthread_cond_signal(&not_full_);
    pthread_mutex_unlock(&mutex_);
  }

 private:
  static constexpr std::size_t kMaxSize = 16;
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t not_full_ = PTHREAD_COND_INITIALIZER;
  pthread_cond_t not_empty_ = PTHREAD_COND_INITIALIZER;
  std::size_t size_ = 0;
};

void pipeline(std::size_t units) {
  static Queue queue;
  in_threads([units](int number) {
    for (std::size_t i = 0; i < units; ++i) {
      if (number == 0) {
        spin(40'000);
        queue.put();
      } else {
        queue.take();
        spin(44'000);
        COZ_PROGRESS_NAMED("item");
      }
    }
  });
}

// Two threads that follow chains through 32 MiB each, in an order that no cache foresees.
void memory(std::size_t units) {
  in_threads([units](int number) {
    constexpr std::size_t kLine = 64 / sizeof(std::uint32_t);
    constexpr std::size_t kLines = (32U << 20U) / 64;
    std::vector<std::uint32_t> order(kLines);
    std::iota(order.begin(), order.end(), 0U);
    std::uint64_t random = 88172645463325252ULL + static_cast<std::uint64_t>(number);
    for (std::size_t i = kLines - 1; i > 0; --i) {
      random ^= random << 13U;
      random ^= random >> 7U;
      random ^= random << 17U;
      std::swap(order[i], order[random % (i + 1)]);
    }
    std::vector<std::uint32_t> next(kLines * kLine);
    for (std::size_t i = 0; i < kLines; ++i) {
      next[order[i] * kLine] = static_cast<std::uint32_t>(order[(i + 1) % kLines] * kLine);
    }
    std::uint32_t at = 0;
    for (std::size_t i = 0; i < units; ++i) {
      for (int step = 0; step < 100; ++step) at = next[at];
      asm volatile("" : "+r"(at));
      if (i % 100 == 0) COZ_PROGRESS_NAMED("chain");
    }
  });
}

// Two threads with a visit for every 2000 iterations, about a microsecond of work.
void visits(std::size_t units) {
  in_threads([units](int) {
    for (std::size_t i = 0; i < units; ++i) {
      spin(2000);
      COZ_PROGRESS_NAMED("visit");
    }
  });
}

struct Workload {
  const char* name;
  void (*run)(std::size_t units);
};

constexpr std::array kWorkloads = {
    Workload{"compute", compute},   Workload{"mutex", mutex},   Workload{"barrier", barrier},
    Workload{"pipeline", pipeline}, Workload{"memory", memory}, Workload{"visits", visits},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc == 1) {
    for (const Workload& workload : kWorkloads) std::puts(workload.name);
    return 0;
  }
  const auto* const found = std::find_if(
      kWorkloads.begin(), kWorkloads.end(),
      [argv](const Workload& workload) { return std::strcmp(workload.name, argv[1]) == 0; });
  const std::size_t units = argc == 3 ? std::strtoull(argv[2], nullptr, 10) : 0;
  if (found == kWorkloads.end() || units == 0) {
    std::fputs("usage: workloads [NAME UNITS]\n", stderr);
    return 2;
  }
  const auto start = std::chrono::steady_clock::now();
  found->run(units);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  std::printf("work %.9f\n", taken.count());
  return 0;
}
