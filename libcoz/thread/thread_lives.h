// At which point of its first period each thread takes its first sample, and how long threads live.
//
// A thread that took its first sample a full period after its start would lose what it runs after
// its last sample, half a period on average, and a shorter thread would never be sampled. So the
// first sample is due after a part of a period that differs from thread to thread: then the
// expected number of samples is the thread's processor time divided by the period, however short it
// is. The parts are no random numbers but multiples of the golden ratio, which fill the period
// evenly, also those that every second or third thread gets: so the number of samples in many short
// threads hardly varies.
//
// What it costs to prepare a sample is saved where the thread is not expected to live until then.
//
// Any thread; lock-free.
#ifndef LIBCOZ_THREAD_THREAD_LIVES_H
#define LIBCOZ_THREAD_THREAD_LIVES_H

#include <atomic>
#include <cstdint>
#include <limits>

#include "common/clock.h"

namespace coz {

class ThreadLives {
 public:
  // Until when the next thread takes its first sample: more than 0, at most a period.
  Nanoseconds draw_phase(Nanoseconds period) noexcept {
    constexpr std::uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;  // its fraction, times 2^64
    return scale(phases_.fetch_add(kGoldenRatio, std::memory_order_relaxed), period);
  }

  // True in the share part/whole of all calls.
  bool draw_whether(Nanoseconds part, Nanoseconds whole) noexcept {
    constexpr std::uint64_t kRootOfTwo = 0x6a09e667f3bcc909;
    return scale(draws_.fetch_add(kRootOfTwo, std::memory_order_relaxed), whole) <= part;
  }

  // The processor time that threads use at most, as far as recent ones tell; without bounds before
  // the first thread has ended.
  Nanoseconds expected_at_most() const noexcept {
    const Nanoseconds longest = longest_.load(std::memory_order_relaxed);
    return longest > kMaxLife ? longest : longest + longest / 4 + kStart;
  }

  // A thread has ended, `wall` after it began, having used `processor_time()`, which is asked for
  // only if it may matter.
  template <typename ProcessorTime>
  void ended(Nanoseconds wall, ProcessorTime processor_time) noexcept {
    const Nanoseconds longest = longest_.load(std::memory_order_relaxed);
    Nanoseconds life = longest > kMaxLife ? 0 : longest - longest / kForgetting;
    if (wall > life) {
      const Nanoseconds used = processor_time();
      if (used > life) life = used > kMaxLife ? kMaxLife : used;
    }
    longest_.store(life, std::memory_order_relaxed);
  }

 private:
  static constexpr Nanoseconds kMaxLife = 3600 * kSecond;
  // What a thread uses before it runs the program's code, and more.
  static constexpr Nanoseconds kStart = 20 * kMicrosecond;
  static constexpr Nanoseconds kForgetting = 64;

  static Nanoseconds scale(std::uint64_t fraction, Nanoseconds whole) noexcept {
    // Of the fraction as many bits as a product with `whole`, of less than 2^40 ns, has room for.
    const auto part = static_cast<std::uint64_t>(whole) * (fraction >> 40) >> 24;
    return static_cast<Nanoseconds>(part) + 1;
  }

  std::atomic<std::uint64_t> phases_{0};
  std::atomic<std::uint64_t> draws_{0};
  // The longest life, forgotten little by little as threads end. Two that end at once may overwrite
  // each other's.
  std::atomic<Nanoseconds> longest_{std::numeric_limits<Nanoseconds>::max()};
};

}  // namespace coz

#endif  // LIBCOZ_THREAD_THREAD_LIVES_H
