// Keeps a thread of ours out of the loader's lock while the program forks.
//
// A child of fork() inherits the lock as it was, but not the thread that would release it, so that
// dlopen would hang there. The thread enters the gate before it takes the lock and leaves it
// afterwards; the handlers of pthread_atfork close the gate. Nothing allocates. before_fork() waits
// until the thread is out, but not for long: if the thread is stuck while entering, another thread
// holds the lock, and the child would hang without the profiler, too.
#ifndef LIBCOZ_KERNEL_FORK_GATE_H
#define LIBCOZ_KERNEL_FORK_GATE_H

#include <atomic>
#include <cstdint>

#include "common/clock.h"

namespace coz {

class ForkGate {
 public:
  // On a busy machine the thread may be preempted inside.
  static constexpr Nanoseconds kMaxWait = 100 * kMillisecond;

  // For one thread. False while the program forks: try again later.
  bool enter() noexcept {
    inside_.store(true);
    if (forks_.load() == 0) return true;
    inside_.store(false);
    return false;
  }
  void leave() noexcept { inside_.store(false); }

  // Any thread.
  void before_fork() noexcept {
    forks_.fetch_add(1);
    const Nanoseconds give_up = now() + kMaxWait;
    while (inside_.load() && now() < give_up) pause_until(now() + 20 * kMicrosecond);
  }
  void after_fork() noexcept { forks_.fetch_sub(1); }

 private:
  // Each side announces itself before it looks at the other: sequentially consistent.
  std::atomic<bool> inside_{false};
  std::atomic<std::uint32_t> forks_{0};
};

}  // namespace coz

#endif  // LIBCOZ_KERNEL_FORK_GATE_H
