// crowd_woken SECONDS call | unlock | clock: a crowd of threads, beside one that computes and has
// nothing to do with them.
//   call    one thread wakes them all by one broadcast, again and again, and each waits for the
//           next one with the mutex that it has just taken
//   unlock  the same, but each gives the mutex back in between
//   clock   nobody wakes them, but the clock, all of them at about the same time
// Prints how often one of them woke.
#include <coz.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>

namespace {

constexpr int kCrowd = 100;

std::mutex mutex;
std::condition_variable called;
std::condition_variable answered;
long calls = 0;
long wakes = 0;
int missing = 0;

void answer(bool unlocks) {
  std::unique_lock lock(mutex);
  for (long last = 0;;) {
    called.wait(lock, [&] { return calls != last; });
    last = calls;
    ++wakes;
    if (--missing == 0) answered.notify_one();
    if (!unlocks) continue;
    lock.unlock();
    lock.lock();
  }
}

void call() {
  {
    std::unique_lock lock(mutex);
    missing = kCrowd;
    ++calls;
    called.notify_all();
    answered.wait(lock, [] { return missing == 0; });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

void wake_by_the_clock() {
  std::unique_lock lock(mutex);
  for (;;) {
    called.wait_for(lock, std::chrono::milliseconds(5));
    ++wakes;
  }
}

[[gnu::noinline]] void compute() {
  for (long i = 0; i < 1000000; ++i) asm volatile("" : "+r"(i));  // COMPUTE
}

}  // namespace

int main(int, char** argv) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end =
      Clock::now() + std::chrono::milliseconds(static_cast<long>(1000 * std::atof(argv[1])));
  const std::string way = argv[2];
  for (int i = 0; i < kCrowd; ++i) {
    if (way == "clock") {
      std::thread(wake_by_the_clock).detach();
    } else {
      std::thread(answer, way == "unlock").detach();
    }
  }
  std::thread([] {
    for (;;) compute();
  }).detach();
  while (Clock::now() < end) {
    if (way == "clock") {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    } else {
      call();
    }
    COZ_PROGRESS_NAMED("turn");
  }
  const std::lock_guard lock(mutex);
  std::printf("%ld\n", wakes);
  std::fflush(stdout);
  std::_Exit(0);
}
