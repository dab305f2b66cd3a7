// Many threads: one after the other, or at once.
//
// threads sequential N     N threads, each joined before the next is created
// threads batches N SIZE   N threads, SIZE created and then joined at a time
// threads together N       N threads that all exist before any of them does its share of a fixed
//                          amount of work
//
// Prints "work SECONDS". Exit status 1, and a line on standard error, when a call fails.
#include <coz.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

// Shared by the threads of `together`: about 0.3 s of one core.
constexpr std::size_t kTogether = 600'000'000;

std::atomic<std::size_t> done{0};
pthread_barrier_t all_exist;

void check(int error, const char* call) {
  if (error == 0) return;
  std::fprintf(stderr, "threads: %s: %s\n", call, std::strerror(error));
  std::exit(1);
}

void* short_thread(void*) {
  done.fetch_add(1, std::memory_order_relaxed);
  COZ_PROGRESS_NAMED("thread");
  return nullptr;
}

void* sharing_thread(void* share) {
  pthread_barrier_wait(&all_exist);
  const auto iterations = reinterpret_cast<std::size_t>(share);
  for (std::size_t i = 0; i < iterations; ++i) asm volatile("" : "+r"(i));
  done.fetch_add(1, std::memory_order_relaxed);
  COZ_PROGRESS_NAMED("thread");
  return nullptr;
}

void run_batches(std::size_t count, std::size_t size) {
  std::vector<pthread_t> threads(size);
  while (count > 0) {
    if (count < size) threads.resize(count);
    for (pthread_t& thread : threads) {
      check(pthread_create(&thread, nullptr, short_thread, nullptr), "pthread_create");
    }
    for (const pthread_t thread : threads) check(pthread_join(thread, nullptr), "pthread_join");
    count -= threads.size();
  }
}

void run_together(std::size_t count) {
  check(pthread_barrier_init(&all_exist, nullptr, static_cast<unsigned>(count)), "barrier");
  // 5000 stacks of the usual size are more than some machines promise.
  pthread_attr_t attributes;
  check(pthread_attr_init(&attributes), "pthread_attr_init");
  check(pthread_attr_setstacksize(&attributes, 256 * 1024), "pthread_attr_setstacksize");
  void* const share = reinterpret_cast<void*>(kTogether / count);
  std::vector<pthread_t> threads(count);
  for (pthread_t& thread : threads) {
    check(pthread_create(&thread, &attributes, sharing_thread, share), "pthread_create");
  }
  for (const pthread_t thread : threads) check(pthread_join(thread, nullptr), "pthread_join");
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
  const std::size_t size = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1;
  const bool together = argc == 3 && std::strcmp(argv[1], "together") == 0;
  const bool sequential = argc == 3 && std::strcmp(argv[1], "sequential") == 0;
  const bool batches = argc == 4 && std::strcmp(argv[1], "batches") == 0;
  if (count == 0 || size == 0 || !(together || sequential || batches)) {
    std::fputs("usage: threads sequential N | batches N SIZE | together N\n", stderr);
    return 2;
  }
  const auto start = std::chrono::steady_clock::now();
  if (together) {
    run_together(count);
  } else {
    run_batches(count, size);
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  if (done.load() != count) {
    std::fprintf(stderr, "threads: %zu of %zu threads ran\n", done.load(), count);
    return 1;
  }
  std::printf("work %.9f\n", taken.count());
  return 0;
}
