// Two threads, in rounds: a() has 6.7 parts of work and b() 6.4, and a round ends when both are
// done. A conventional profiler says "half the time in each". Making a() faster can gain at most
// 0.3/6.7 = 4.5 %, because b() is then the last to be done; making b() faster gains nothing.
//
// two_threads [SECONDS [ITERATIONS]]: ITERATIONS of a()'s loop a round, normally about 6 ms worth.
#include <coz.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

pthread_barrier_t round_end;
std::atomic<bool> stop{false};
std::size_t a_iterations = 18'000'000;
std::size_t b_iterations = 0;

// Each loop is one line of source, and that line is all the work there is. The counter stays in a
// register: a loop over a volatile variable, as in the original, runs up to twice as fast on some
// processors for a while after a thread has slept. Both functions are aligned, since some
// processors take twice as long for a loop that crosses a boundary. This one has 6.7 parts.
__attribute__((noinline, aligned(64))) void a() {
  for (std::size_t x = 0; x < a_iterations; ++x) asm volatile("" : "+r"(x));
}

// 6.4 parts
__attribute__((noinline, aligned(64))) void b() {
  for (std::size_t y = 0; y < b_iterations; ++y) asm volatile("" : "+r"(y));
}

void run_rounds(void (*work)(), bool marks_progress, std::chrono::steady_clock::time_point end) {
  for (;;) {
    work();
    if (marks_progress && std::chrono::steady_clock::now() >= end) stop = true;
    pthread_barrier_wait(&round_end);
    if (stop) return;
    if (marks_progress) COZ_PROGRESS_NAMED("round");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 60.0;
  if (argc > 2) a_iterations = std::strtoull(argv[2], nullptr, 10);
  b_iterations = a_iterations / 67 * 64;

  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                       std::chrono::duration<double>(seconds));
  pthread_barrier_init(&round_end, nullptr, 2);
  std::thread a_thread(run_rounds, a, true, end);
  std::thread b_thread(run_rounds, b, false, end);
  a_thread.join();
  b_thread.join();
  pthread_barrier_destroy(&round_end);
  return 0;
}
