// The functions behind those that are interposed: COZ_REAL(pthread_mutex_lock)(mutex).
//
// Looked up with dlsym(RTLD_NEXT) at first use, so that wrappers work before our constructor has
// run, and other preloaded libraries keep their place in the chain. dlsym may itself allocate, and
// an allocator may lock a mutex: such a nested call gets libc's own entry. Any thread; once
// prepare() has looked everything up, also in signal handlers.
#ifndef LIBCOZ_INTERPOSE_REAL_H
#define LIBCOZ_INTERPOSE_REAL_H

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>

// clang-format off
#define COZ_REAL_FUNCTIONS(X) \
  X(pthread_create) X(pthread_join) \
  X(pthread_mutex_lock) X(pthread_mutex_trylock) X(pthread_mutex_unlock) \
  X(pthread_cond_wait) X(pthread_cond_timedwait) X(pthread_cond_clockwait) \
  X(pthread_cond_signal) X(pthread_cond_broadcast) \
  X(pthread_barrier_wait) \
  X(pthread_kill) X(kill) X(sigwait) X(sigwaitinfo) X(sigtimedwait) X(sigsuspend) \
  X(sigaction) X(signal) X(sigprocmask) X(pthread_sigmask) \
  X(_exit)
// clang-format on

namespace coz::real {

enum Function : int {
#define COZ_NAME_FUNCTION(name) k_##name,
  COZ_REAL_FUNCTIONS(COZ_NAME_FUNCTION)
#undef COZ_NAME_FUNCTION
      kFunctions
};

extern std::atomic<void*> addresses[kFunctions];

void* look_up(Function function) noexcept;

inline void* find(Function function) noexcept {
  void* address = addresses[function].load(std::memory_order_relaxed);
  return __builtin_expect(address != nullptr, 1) ? address : look_up(function);
}

// Looks all of them up.
void prepare() noexcept;

}  // namespace coz::real

#define COZ_REAL(name) (reinterpret_cast<decltype(&::name)>(coz::real::find(coz::real::k_##name)))

#endif  // LIBCOZ_INTERPOSE_REAL_H
