// Spin locks, and sched_yield, which loops call that wait by spinning. Threads that spin take
// samples and would pay only then, up to a period late, perhaps while they hold the lock.
#include <pthread.h>
#include <sched.h>
#include <threads.h>

#include <algorithm>

#include "interpose/blocking.h"
#include "interpose/export.h"
#include "kernel/real.h"

namespace {

// Waits between two attempts, longer each time, so that the owner's cache line is left alone.
class Relax {
 public:
  void operator()() {
    for (int i = 0; i < times_; ++i) {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#elif defined(__aarch64__)
      asm volatile("yield");
#else
      asm volatile("");
#endif
    }
    times_ = std::min(2 * times_, kMaxTimes);
  }

 private:
  static constexpr int kMaxTimes = 32;
  int times_ = 1;
};

}  // namespace

COZ_EXPORT int pthread_spin_lock(pthread_spinlock_t* lock) noexcept {
  auto delays = coz::Session::current_delays();
  if (!delays) return COZ_REAL(pthread_spin_lock)(lock);
  return coz::rules::spin(
      *delays, [=] { return COZ_REAL(pthread_spin_trylock)(lock); }, coz::is_busy, Relax());
}

COZ_EXPORT int pthread_spin_unlock(pthread_spinlock_t* lock) noexcept {
  auto delays = coz::Session::current_delays();
  if (!delays) return COZ_REAL(pthread_spin_unlock)(lock);
  return coz::rules::release(*delays, coz::own_key(reinterpret_cast<std::uintptr_t>(lock)),
                             [=] { return COZ_REAL(pthread_spin_unlock)(lock); });
}

COZ_EXPORT int sched_yield() noexcept {
  auto delays = coz::Session::current_delays();
  if (!delays) return COZ_REAL(sched_yield)();
  delays->settle();
  const coz::Nanoseconds local = delays->local();
  const coz::Nanoseconds start = coz::now();
  const int result = COZ_REAL(sched_yield)();
  delays->after_yielding(local, coz::now() - start);
  return result;
}

COZ_EXPORT void thrd_yield() { sched_yield(); }
