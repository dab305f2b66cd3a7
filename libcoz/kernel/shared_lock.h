// A spin lock for threads of several processes, held for a few instructions. A thread that is
// killed while it holds the lock does not keep it: whoever waits takes it over. So what the lock
// protects must be usable whenever a holder stops.
//
// Any thread; not in signal handlers. Zeroed memory is a free lock. errno is not touched.
#ifndef LIBCOZ_KERNEL_SHARED_LOCK_H
#define LIBCOZ_KERNEL_SHARED_LOCK_H

#include <atomic>

#include "common/raw_syscall.h"
#include "kernel/process_state.h"

namespace coz {

class SharedLock {
 public:
  void lock() noexcept {
    const int self = static_cast<int>(raw_syscall(SYS_gettid));
    for (int attempts = 1;; ++attempts) {
      int holder = 0;
      if (take(holder, self)) return;
      if (attempts % kAttemptsBetweenLooks != 0) continue;
      if (has_ended(holder) && take(holder, self)) return;
      raw_syscall(SYS_sched_yield);
    }
  }
  void unlock() noexcept { holder_.store(0, std::memory_order_release); }

 private:
  static constexpr int kAttemptsBetweenLooks = 10'000;

  bool take(int& from, int self) noexcept {
    return holder_.compare_exchange_strong(from, self, std::memory_order_acquire,
                                           std::memory_order_relaxed);
  }

  std::atomic<int> holder_{0};  // a thread's number
};

}  // namespace coz

#endif  // LIBCOZ_KERNEL_SHARED_LOCK_H
