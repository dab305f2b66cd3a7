// Threads of ours in the program's process.
//
// Any thread; not in signal handlers.
#ifndef LIBCOZ_KERNEL_OWN_THREAD_H
#define LIBCOZ_KERNEL_OWN_THREAD_H

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <cstdint>

#include "common/raw_syscall.h"

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
  // In a forked child, which has none of them.
  static void in_forked_child() noexcept { count_.store(0); }

 private:
  inline static std::atomic<unsigned> count_{0};
};

// Starts a thread of ours with all signals blocked, so that it is not sampled and takes no signal
// of the program's. Returns what pthread_create returns. Once the program is profiled, `create`
// must be the real one.
inline int start_own_thread(pthread_t& thread, void* (*run)(void*), void* argument,
                            decltype(&pthread_create) create = pthread_create) noexcept {
  // All but the two that glibc sends to threads by itself, as for setuid().
  constexpr std::uint64_t kAll = ~(std::uint64_t{3} << 31);
  std::uint64_t before = 0;
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&kAll),
              reinterpret_cast<long>(&before), sizeof before);
  const int error = create(&thread, nullptr, run, argument);
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&before), 0, sizeof before);
  return error;
}

}  // namespace coz

#endif  // LIBCOZ_KERNEL_OWN_THREAD_H
