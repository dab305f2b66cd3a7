// Keeps a thread of ours out of the loader's lock while the program forks.
//
// A child of fork() has the lock as it was, but not the thread that would release it: dlopen would
// hang there. The thread passes the gate on its way in and out; the handlers of pthread_atfork shut
// it. Nothing allocates. before_fork() waits until the thread is out, but not for long: if it is
// stuck on its way in, another thread holds the lock, and what becomes of it is the program's
// doing.
#ifndef LIBCOZ_KERNEL_FORK_GATE_H
#define LIBCOZ_KERNEL_FORK_GATE_H

#include <atomic>
#include <cstdint>

#include "common/clock.h"

namespace coz {

class ForkGate {
 public:
  // On a busy machine the thread may be put aside within.
  static constexpr Nanoseconds kMaxWait = 100 * kMillisecond;

  // One thread; false while the program forks: try again later.
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
