// A thread that ticks by a schedule, every 2 ms, beside one that computes.
//
//   schedules sleep|condition
//
// Prints how often it has ticked.
#include <coz.h>
#include <time.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <thread>

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kStep{2};
constexpr std::chrono::seconds kDuration{5};

std::atomic<bool> ended{false};
std::atomic<int> ticks{0};

void sleep_until(Clock::time_point time) {
  const auto since = time.time_since_epoch();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since);
  const std::chrono::nanoseconds rest = since - seconds;
  const timespec until = {seconds.count(), rest.count()};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) != 0) {
  }
}

void tick(bool sleeps) {
  std::mutex mutex;
  std::condition_variable nobody;
  for (auto next = Clock::now(); !ended; next += kStep) {
    if (sleeps) {
      sleep_until(next);
    } else {
      std::unique_lock lock(mutex);
      nobody.wait_until(lock, next, [] { return false; });
    }
    COZ_PROGRESS_NAMED("tick");
    ++ticks;
  }
}

}  // namespace

int main(int, char** arguments) {
  std::thread ticker(tick, std::strcmp(arguments[1], "sleep") == 0);
  volatile unsigned value = 1;
  for (const auto start = Clock::now(); Clock::now() - start < kDuration;) {
    for (int i = 0; i < 100000; ++i) value = value * 3 + 1;  // LINE compute
    COZ_PROGRESS_NAMED("computed");
  }
  std::printf("%d\n", ticks.load());
  ended = true;
  ticker.join();
}
