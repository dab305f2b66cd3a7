// A sleep that another thread, or the end of a time limit, can end for good: how the profiler's own
// threads are stopped.
//
// It also counts for how long the thread could not wake up because the whole process stood still: a
// signal had stopped it, its cgroup was frozen, or its virtual machine paused.
//
// Any thread may stop(); one sleeps, and asks for standstill(). Nothing allocates or fails.
#ifndef LIBCOZ_KERNEL_STOP_SIGNAL_H
#define LIBCOZ_KERNEL_STOP_SIGNAL_H

#include <linux/futex.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>

#include "common/clock.h"
#include "common/raw_syscall.h"

namespace coz {

class StopSignal {
 public:
  void stop() noexcept {
    stopped_.store(1, std::memory_order_release);
    raw_syscall(SYS_futex, address(), FUTEX_WAKE_PRIVATE, 1 << 30);
  }

  // As if stop() were called at that time. Before another thread uses this.
  void stop_at(Nanoseconds time) noexcept { end_ = time; }

  bool is_stopped() const noexcept {
    return stopped_.load(std::memory_order_acquire) != 0 || now() >= end_;
  }

  // True when the time came, false when stopped.
  bool sleep_until(Nanoseconds deadline) noexcept {
    const Nanoseconds until = std::min(deadline, end_);
    const timespec t = {until / kSecond, until % kSecond};
    const Nanoseconds begin = now();
    // The process may have stood still before the thread slept.
    if (woken_ != 0) count_standstill(begin - woken_);
    const Nanoseconds due = std::max(until, begin);
    for (;;) {
      const Nanoseconds time = woken_ = now();
      count_standstill(time - due);  // and then it returns
      if (is_stopped()) return false;
      if (time >= deadline) return true;
      raw_syscall(SYS_futex, address(), FUTEX_WAIT_BITSET_PRIVATE, 0, reinterpret_cast<long>(&t), 0,
                  static_cast<long>(FUTEX_BITSET_MATCH_ANY));
    }
  }

  // For how long the thread has been held up in sleeps or between them, by a second or more each
  // time: on a busy machine it goes on sooner.
  Nanoseconds standstill() const noexcept { return standstill_; }

  bool sleep_for(Nanoseconds duration) noexcept { return sleep_until(now() + duration); }

 private:
  static constexpr Nanoseconds kMinStandstill = kSecond;

  void count_standstill(Nanoseconds late) noexcept {
    if (late >= kMinStandstill) standstill_ += late;
  }

  long address() noexcept { return reinterpret_cast<long>(&stopped_); }

  std::atomic<std::uint32_t> stopped_{0};
  Nanoseconds end_ = std::numeric_limits<Nanoseconds>::max();
  Nanoseconds woken_ = 0;  // when the last sleep ended
  Nanoseconds standstill_ = 0;
};

}  // namespace coz

#endif  // LIBCOZ_KERNEL_STOP_SIGNAL_H
