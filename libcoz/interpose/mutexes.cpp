// Mutexes of POSIX and of C11: to take one, a thread waits for the holder; to release one wakes the
// next.
#include <pthread.h>
#include <threads.h>

#include "interpose/blocking.h"
#include "interpose/export.h"
#include "kernel/real.h"

namespace {

using coz::key;

// `lock` is the call that waits for the mutex. Because of the attempt before it, uncontended
// locking does not read the clock.
template <typename Mutex, typename Attempt, typename IsBusy, typename Lock, typename WakeSourceOf>
COZ_WRAPPER_PART int take(const Mutex* mutex, Attempt attempt, IsBusy is_busy, Lock lock,
                          WakeSourceOf wake_source_of) {
  auto delays = coz::Session::current_delays();
  if (!delays) return lock();
  if (!delays->follows_waits()) {
    return coz::rules::acquire(*delays, key(mutex), attempt, is_busy, lock, wake_source_of);
  }
  const auto followed = [&] {
    const coz::AwaitedLock awaited{key(mutex), mutex, coz::holder_of};
    const coz::FollowedWait wait(*delays, coz::WaitClass::kLock, &awaited);
    return lock();
  };
  return coz::rules::acquire_followed(*delays, key(mutex), attempt, is_busy, followed,
                                      wake_source_of);
}

template <typename Lock>
COZ_WRAPPER_PART int lock_mutex(pthread_mutex_t* mutex, Lock lock) {
  return take(
      mutex, [=] { return COZ_REAL(pthread_mutex_trylock)(mutex); }, coz::is_busy, lock,
      coz::wake_source_of_error_number);
}

template <typename Mutex, typename Unlock>
COZ_WRAPPER_PART int unlock_mutex(const Mutex* mutex, Unlock unlock) {
  auto delays = coz::Session::current_delays();
  if (!delays) return unlock();
  return coz::rules::release_mutex(
      *delays, key(mutex), [=] { return coz::is_waited_for(mutex); }, unlock);
}

template <typename Lock>
COZ_WRAPPER_PART int lock_c11(mtx_t* mutex, Lock lock) {
  return take(
      mutex, [=] { return COZ_REAL(mtx_trylock)(mutex); },
      [](int result) { return result == thrd_busy; }, lock, coz::wake_source_of_c11);
}

}  // namespace

COZ_EXPORT int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  return lock_mutex(mutex, [=] { return COZ_REAL(pthread_mutex_lock)(mutex); });
}

COZ_EXPORT int pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* time) noexcept {
  return lock_mutex(mutex, [=] { return COZ_REAL(pthread_mutex_timedlock)(mutex, time); });
}

COZ_EXPORT int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                                       const timespec* time) noexcept {
  return lock_mutex(mutex, [=] { return COZ_REAL(pthread_mutex_clocklock)(mutex, clock, time); });
}

COZ_EXPORT int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  return unlock_mutex(mutex, [=] { return COZ_REAL(pthread_mutex_unlock)(mutex); });
}

COZ_EXPORT int mtx_lock(mtx_t* mutex) {
  return lock_c11(mutex, [=] { return COZ_REAL(mtx_lock)(mutex); });
}

COZ_EXPORT int mtx_timedlock(mtx_t* mutex, const timespec* time) {
  return lock_c11(mutex, [=] { return COZ_REAL(mtx_timedlock)(mutex, time); });
}

COZ_EXPORT int mtx_unlock(mtx_t* mutex) {
  return unlock_mutex(mutex, [=] { return COZ_REAL(mtx_unlock)(mutex); });
}
