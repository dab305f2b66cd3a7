// Mutexes of POSIX and of C11: to take one, a thread waits for the holder; to release one wakes the
// next.
#include <pthread.h>
#include <threads.h>

#include "interpose/blocking.h"
#include "interpose/export.h"
#include "interpose/take_lock.h"
#include "kernel/real.h"

namespace {

using coz::key;

template <typename Lock>
COZ_WRAPPER_PART int lock_mutex(pthread_mutex_t* mutex, Lock lock) {
  return coz::take_lock(
      mutex, coz::holder_of, coz::LockUse::kAlone,
      [=] { return COZ_REAL(pthread_mutex_trylock)(mutex); }, coz::is_busy, lock,
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
  return coz::take_lock(
      mutex, coz::holder_of, coz::LockUse::kAlone, [=] { return COZ_REAL(mtx_trylock)(mutex); },
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
