// Half of the work in the main thread, half of it in threads that live short.
//
// short_threads KIND MICROSECONDS SECONDS
//
// KIND: `joined`, a thread at a time, `batches` of two, `detached`, or `async` by std::async.
// Before each thread, or two, main does as much work as they do, of MICROSECONDS (of a processor of
// 3 GHz) each. Prints the processor time of the two lines' loops, in seconds:
//
//   main M threads T
//
// With KIND `delay` it prints how long a signal takes to reach a thread that runs on another
// processor, in microseconds, at the median.
#include <coz.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <future>

namespace {

constexpr double kPerMicrosecond = 3000;

long iterations;
std::atomic<long> main_nanoseconds;
std::atomic<long> thread_nanoseconds;
sem_t is_done;

long clock_nanoseconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

[[gnu::noinline]] void work_in_main() {
  for (long i = iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE main
}

[[gnu::noinline]] void work_in_thread() {
  for (long i = iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE thread
}

template <typename Work>
void time(Work work, std::atomic<long>& sum) {
  const long start = clock_nanoseconds(CLOCK_THREAD_CPUTIME_ID);
  work();
  sum += clock_nanoseconds(CLOCK_THREAD_CPUTIME_ID) - start;
}

void* run_thread(void* is_detached) {
  time(work_in_thread, thread_nanoseconds);
  if (is_detached != nullptr) sem_post(&is_done);
  return nullptr;
}

void run_joined(int count) {
  pthread_t threads[2];
  for (int i = 0; i < count; ++i) time(work_in_main, main_nanoseconds);
  for (int i = 0; i < count; ++i) pthread_create(&threads[i], nullptr, run_thread, nullptr);
  for (int i = 0; i < count; ++i) pthread_join(threads[i], nullptr);
}

void run_detached() {
  pthread_t thread;
  time(work_in_main, main_nanoseconds);
  pthread_create(&thread, nullptr, run_thread, &is_done);
  pthread_detach(thread);
  sem_wait(&is_done);
}

void run_async() {
  time(work_in_main, main_nanoseconds);
  std::async(std::launch::async, [] { run_thread(nullptr); }).wait();
}

std::atomic<bool> is_over;
std::atomic<long> arrived;

void* spin(void*) {
  while (!is_over) asm volatile("");
  return nullptr;
}

void print_signal_delay() {
  signal(SIGUSR2, [](int) { arrived = clock_nanoseconds(CLOCK_MONOTONIC); });
  pthread_t thread;
  pthread_create(&thread, nullptr, spin, nullptr);
  std::array<long, 201> delays{};
  for (long& delay : delays) {
    const timespec pause = {0, 1'000'000};
    nanosleep(&pause, nullptr);
    arrived = 0;
    const long sent = clock_nanoseconds(CLOCK_MONOTONIC);
    pthread_kill(thread, SIGUSR2);
    while (arrived == 0) asm volatile("");
    delay = arrived - sent;
  }
  is_over = true;
  pthread_join(thread, nullptr);
  std::nth_element(delays.begin(), delays.begin() + delays.size() / 2, delays.end());
  std::printf("%.1f\n", static_cast<double>(delays[delays.size() / 2]) / 1000);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "delay") == 0) return print_signal_delay(), 0;
  if (argc != 4) return 2;
  iterations = static_cast<long>(std::atof(argv[2]) * kPerMicrosecond);
  const long end = clock_nanoseconds(CLOCK_MONOTONIC) + static_cast<long>(1e9 * std::atof(argv[3]));
  sem_init(&is_done, 0, 0);
  while (clock_nanoseconds(CLOCK_MONOTONIC) < end) {
    if (std::strcmp(argv[1], "joined") == 0) run_joined(1);
    if (std::strcmp(argv[1], "batches") == 0) run_joined(2);
    if (std::strcmp(argv[1], "detached") == 0) run_detached();
    if (std::strcmp(argv[1], "async") == 0) run_async();
    COZ_PROGRESS_NAMED("round");
  }
  std::printf("main %.6f threads %.6f\n", 1e-9 * static_cast<double>(main_nanoseconds),
              1e-9 * static_cast<double>(thread_nanoseconds));
}
