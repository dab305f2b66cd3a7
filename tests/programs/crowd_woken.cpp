// crowd_woken SECONDS: one thread wakes a crowd by one broadcast, again and again, whose members
// then take the mutex one after the other. Another computes, and has nothing to do with them.
// Prints how often all have answered.
#include <coz.h>

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <thread>

namespace {

constexpr int kCrowd = 100;

std::mutex mutex;
std::condition_variable called;
std::condition_variable answered;
long calls = 0;
int missing = 0;

void answer() {
  std::unique_lock lock(mutex);
  for (long last = 0;;) {
    called.wait(lock, [&] { return calls != last; });
    last = calls;
    if (--missing == 0) answered.notify_one();
  }
}

void call() {
  std::unique_lock lock(mutex);
  missing = kCrowd;
  ++calls;
  called.notify_all();
  answered.wait(lock, [] { return missing == 0; });
}

[[gnu::noinline]] void compute() {
  for (long i = 0; i < 1000000; ++i) asm volatile("" : "+r"(i));  // COMPUTE
}

double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

int main(int, char** argv) {
  const double end = now() + std::atof(argv[1]);
  for (int i = 0; i < kCrowd; ++i) std::thread(answer).detach();
  std::thread([] {
    for (;;) compute();
  }).detach();
  while (now() < end) {
    call();
    COZ_PROGRESS_NAMED("answered");
    const timespec pause{0, 2'000'000};
    nanosleep(&pause, nullptr);
  }
  std::printf("%ld\n", calls);
  std::fflush(stdout);
  std::_Exit(0);
}
