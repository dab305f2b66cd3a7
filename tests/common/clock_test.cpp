#include "common/clock.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <thread>

using coz::kMillisecond;
using coz::Nanoseconds;

namespace {

struct Pause {
  Nanoseconds overslept;
  Nanoseconds processor_time;
};

Pause pause_busily_for(Nanoseconds time) {
  const Nanoseconds ran = coz::own_processor_time();
  const Nanoseconds end = coz::now() + time;
  const Nanoseconds woken = coz::pause_busily_until(end);
  return {woken - end, coz::own_processor_time() - ran};
}

// This thread, and those that it makes, share one processor.
class OneProcessor {
 public:
  OneProcessor() {
    REQUIRE(sched_getaffinity(0, sizeof before_, &before_) == 0);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
  }
  ~OneProcessor() { sched_setaffinity(0, sizeof before_, &before_); }
  OneProcessor(const OneProcessor&) = delete;
  OneProcessor& operator=(const OneProcessor&) = delete;

 private:
  cpu_set_t before_;
};

}  // namespace

TEST_CASE("a busy pause ends no earlier than asked for, and keeps errno") {
  errno = ENOTTY;
  const Pause pause = pause_busily_for(2 * kMillisecond);
  const Pause none = pause_busily_for(-kMillisecond);
  const int error = errno;
  CHECK(error == ENOTTY);
  CHECK(pause.overslept >= 0);
  CHECK(none.overslept >= kMillisecond);
}

TEST_CASE("a busy pause keeps a processor that nobody else wants") {
  // Tests that run beside this one may want all of them for a while.
  const Nanoseconds end = coz::now() + 30 * coz::kSecond;
  Nanoseconds most = 0;
  while (coz::now() < end && most < kMillisecond) {
    most = std::max(most, pause_busily_for(2 * kMillisecond).processor_time);
  }
  CHECK(most >= kMillisecond);
}

TEST_CASE("a busy pause takes the processor from no thread that wants it") {
  const OneProcessor one;
  std::atomic<bool> stops{false};
  std::thread other([&] {
    while (!stops.load(std::memory_order_relaxed)) {
    }
  });
  // Let it run.
  coz::pause_until(coz::now() + 5 * kMillisecond);
  Nanoseconds used = 0;
  for (int i = 0; i < 5; ++i) used += pause_busily_for(20 * kMillisecond).processor_time;
  stops = true;
  other.join();
  // 50, if the two took turns.
  CHECK(used < 40 * kMillisecond);
}
