// Which ticks of the timer are samples of a thread: one for each period of its processor time.
//
// A short thread rarely sees a tick, and has not used a period when it does. So what threads leave
// when they end is kept (LeftoverTime). A tick that finds a young thread makes up from it what that
// one lacks for a period. A tick finds threads that do the same as often as they run, and there are
// as many samples as periods in all.
//
// The thread itself calls begin() and left_at_end(), the timer's thread the rest. Processor time is
// handed in.
#ifndef LIBCOZ_THREAD_TICK_ACCOUNT_H
#define LIBCOZ_THREAD_TICK_ACCOUNT_H

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "common/clock.h"

namespace coz {

// Any thread may add, one takes. Lock-free.
class LeftoverTime {
 public:
  void add(Nanoseconds time) noexcept { time_.fetch_add(time, std::memory_order_relaxed); }
  Nanoseconds get() const noexcept { return time_.load(std::memory_order_relaxed); }

  // False, and nothing changes, if there is not as much.
  bool take(Nanoseconds time) noexcept {
    if (get() < time) return false;
    add(-time);
    return true;
  }

  // Forgets what is more: hardly any thread is found that might be sampled for it.
  void limit(Nanoseconds most) noexcept {
    const Nanoseconds surplus = get() - most;
    if (surplus > 0) add(-surplus);
  }

 private:
  std::atomic<Nanoseconds> time_{0};
};

class TickAccount {
 public:
  // After a while without ticks (stopped, starved) missed samples are not made up for.
  static constexpr Nanoseconds kMaxMissed = 10;
  static constexpr int kMaxIdleTicks = 16;
  // A thread that has used so many periods takes samples for its own time only.
  static constexpr Nanoseconds kYoungPeriods = 8;

  // `samples`: those that the thread's slot has counted. A thread that is not new takes its first
  // sample after a period.
  void begin(Nanoseconds used, std::uint32_t samples, bool is_new, Nanoseconds period) noexcept {
    samples_before_ = samples;
    sent_.store(0, std::memory_order_relaxed);
    young_until_.store(is_new ? used + kYoungPeriods * period : 0, std::memory_order_relaxed);
    last_seen_.store(used, std::memory_order_relaxed);
    accounted_.store(used, std::memory_order_release);
  }

  // A tick finds the thread, which is not blocked: whether it is to be sampled. `is_running` says
  // whether it runs, given what it has used since the tick before: a sample of a thread that waits
  // in the kernel would show where it waits, not where its time went.
  template <typename IsRunning>
  bool is_due(Nanoseconds used, Nanoseconds period, LeftoverTime& leftover,
              IsRunning is_running) noexcept {
    const Nanoseconds accounted = accounted_.load(std::memory_order_acquire);
    const Nanoseconds since_tick = used - last_seen_.load(std::memory_order_relaxed);
    if (accounted == kNotBegun || since_tick == 0) return false;
    last_seen_.store(used, std::memory_order_relaxed);
    const Nanoseconds own = used - accounted;
    const Nanoseconds lacks = period - own;
    const bool is_young = used < young_until_.load(std::memory_order_relaxed);
    if (lacks > 0 && !(is_young && leftover.get() >= lacks)) return false;
    if (!is_running(since_tick)) return false;
    if (lacks > 0 && !leftover.take(lacks)) return false;
    const bool has_rest = own >= period && own <= kMaxMissed * period;
    accounted_.store(has_rest ? accounted + period : used, std::memory_order_relaxed);
    sent_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }

  // At each tick: whether a further sample is due already. A thread that waits for long does not
  // count: more ticks would not find it running.
  bool is_behind(Nanoseconds used, Nanoseconds period) noexcept {
    idle_ticks_ = used == used_before_ ? idle_ticks_ + 1 : 0;
    used_before_ = used;
    return has_begun() && idle_ticks_ < kMaxIdleTicks &&
           used - accounted_.load(std::memory_order_relaxed) >= period;
  }

  bool has_begun() const noexcept {
    return accounted_.load(std::memory_order_relaxed) != kNotBegun;
  }

  // What the thread has used without a sample; a signal that has not reached it is none.
  Nanoseconds left_at_end(Nanoseconds used, std::uint32_t samples, Nanoseconds period) noexcept {
    const Nanoseconds accounted = accounted_.exchange(kNotBegun, std::memory_order_relaxed);
    if (accounted == kNotBegun) return 0;
    const std::uint32_t taken = samples - samples_before_;
    const bool is_pending = sent_.load(std::memory_order_relaxed) > taken;
    return std::clamp<Nanoseconds>(used - accounted, 0, period) + (is_pending ? period : 0);
  }

  // A new thread takes the slot over.
  void reset() noexcept { accounted_.store(kNotBegun, std::memory_order_relaxed); }

 private:
  static constexpr Nanoseconds kNotBegun = -1;

  std::atomic<Nanoseconds> accounted_{kNotBegun};  // processor time that samples stand for
  std::atomic<std::uint32_t> sent_{0};
  std::uint32_t samples_before_ = 0;
  // The timer may still look at a slot that a new thread takes over.
  std::atomic<Nanoseconds> young_until_{0};
  std::atomic<Nanoseconds> last_seen_{0};
  // Of the timer's thread.
  Nanoseconds used_before_ = 0;
  int idle_ticks_ = 0;
};

}  // namespace coz

#endif  // LIBCOZ_THREAD_TICK_ACCOUNT_H
