// Threads of ours in the program's process.
//
// Any thread; not in signal handlers.
#ifndef LIBCOZ_KERNEL_OWN_THREAD_H
#define LIBCOZ_KERNEL_OWN_THREAD_H

#include <pthread.h>
#include <signal.h>

#include <atomic>

#include "kernel/real.h"
#include "kernel/signal_bits.h"

namespace coz {

// While it lives, the calling thread counts as one of ours. (libc counts it as the program's.)
class OwnThread {
 public:
  explicit OwnThread(const char* name) noexcept {
    count_.fetch_add(1);
    pthread_setname_np(pthread_self(), name);
  }
  ~OwnThread() { count_.fetch_sub(1); }
  OwnThread(const OwnThread&) = delete;
  OwnThread& operator=(const OwnThread&) = delete;

  static unsigned count() noexcept { return count_.load(); }
  // Threads that start from now on may run into breakpoints, as in an allocator of the program's. A
  // blocked SIGTRAP would end the process there.
  static void let_traps_come() noexcept { blocked_ &= ~bit_of(SIGTRAP); }
  static SignalBits blocked() noexcept { return blocked_; }
  // In a forked child, which has none of them.
  static void in_forked_child() noexcept { count_.store(0); }

 private:
  inline static std::atomic<unsigned> count_{0};
  // All but the two that glibc sends to threads by itself, as for setuid().
  inline static SignalBits blocked_ = ~(SignalBits{3} << 31);
};

// Starts a thread of ours with signals blocked, so that it is not sampled and takes no signal of
// the program's. Returns what pthread_create returns.
inline int start_own_thread(pthread_t& thread, void* (*run)(void*), void* argument) noexcept {
  const SignalBits before = change_kernel_mask(SIG_SETMASK, OwnThread::blocked());
  const int error = COZ_REAL(pthread_create)(&thread, nullptr, run, argument);
  change_kernel_mask(SIG_SETMASK, before);
  return error;
}

}  // namespace coz

#endif  // LIBCOZ_KERNEL_OWN_THREAD_H
