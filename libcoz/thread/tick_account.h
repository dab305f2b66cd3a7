// Which ticks of the timer are samples of a thread: one for each period of its processor time.
//
// The thread itself calls begin() and end(), the timer's thread the rest. Processor time is handed
// in.
#ifndef LIBCOZ_THREAD_TICK_ACCOUNT_H
#define LIBCOZ_THREAD_TICK_ACCOUNT_H

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>

#include "common/clock.h"

namespace coz {

class TickAccount {
 public:
  // After a while without ticks (stopped, starved) missed samples are not made up for.
  static constexpr Nanoseconds kMaxMissed = 10;
  static constexpr int kMaxIdleTicks = 16;
  // The thread, which has used so much, takes its next sample when it has used `due`.
  void begin(Nanoseconds used, Nanoseconds due, Nanoseconds period) noexcept {
    last_seen_.store(used, std::memory_order_relaxed);
    accounted_.store(due - period, std::memory_order_release);
  }

  // A tick leaves the thread alone, since it is blocked. As is_behind().
  bool pass_over() noexcept {
    was_passed_over_ = true;
    return was_behind_ && ++idle_ticks_ < kMaxIdleTicks;
  }

  // A tick finds the thread: whether it is to be sampled. `is_running` says whether it runs, given
  // what it has used since the tick before (1 ns if that is unknown): a sample of a thread that
  // waits in the kernel would show where it waits, not where its time went.
  template <typename IsRunning>
  bool is_due(Nanoseconds used, Nanoseconds period, IsRunning is_running) noexcept {
    const Nanoseconds accounted = accounted_.load(std::memory_order_acquire);
    const Nanoseconds since_tick = see(used);
    if (accounted == kNotBegun || since_tick == 0) return false;
    const Nanoseconds own = used - accounted;
    if (own < period || !is_running(since_tick)) return false;
    const bool has_rest = own <= kMaxMissed * period;
    accounted_.store(has_rest ? accounted + period : used, std::memory_order_relaxed);
    return true;
  }

  // The same while sampling pauses: what the thread uses meanwhile is not made up for.
  void leave_out(Nanoseconds used) noexcept {
    const Nanoseconds since_tick = see(used);
    const Nanoseconds accounted = accounted_.load(std::memory_order_acquire);
    if (accounted != kNotBegun) {
      accounted_.store(accounted + since_tick, std::memory_order_relaxed);
    }
  }

  // At each tick: whether a further sample is due already. A thread that waits for long does not
  // count: more ticks would not find it running.
  bool is_behind(Nanoseconds used, Nanoseconds period) noexcept {
    idle_ticks_ = used == used_before_ ? idle_ticks_ + 1 : 0;
    used_before_ = used;
    const Nanoseconds accounted = accounted_.load(std::memory_order_relaxed);
    was_behind_ = accounted != kNotBegun && used - accounted >= period;
    return was_behind_ && idle_ticks_ < kMaxIdleTicks;
  }

  // The thread has ended, or another takes its slot over.
  void end() noexcept { accounted_.store(kNotBegun, std::memory_order_relaxed); }

 private:
  // What it has used since the tick before.
  Nanoseconds see(Nanoseconds used) noexcept {
    const Nanoseconds since_tick = used - last_seen_.load(std::memory_order_relaxed);
    last_seen_.store(used, std::memory_order_relaxed);
    return std::exchange(was_passed_over_, false) ? std::min(since_tick, Nanoseconds{1})
                                                  : since_tick;
  }

  // No sum of processor time is so much less than 0.
  static constexpr Nanoseconds kNotBegun = std::numeric_limits<Nanoseconds>::min();

  std::atomic<Nanoseconds> accounted_{kNotBegun};  // processor time that samples stand for
  // The timer may still look at a slot that a new thread takes over.
  std::atomic<Nanoseconds> last_seen_{0};
  // Of the timer's thread.
  bool was_passed_over_ = false;
  bool was_behind_ = false;
  Nanoseconds used_before_ = 0;
  int idle_ticks_ = 0;
};

}  // namespace coz

#endif  // LIBCOZ_THREAD_TICK_ACCOUNT_H
