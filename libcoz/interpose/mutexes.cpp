// Mutexes of POSIX and of C11: to take one, a thread waits for the holder; to release one wakes the
// next.
#include <pthread.h>
#include <threads.h>

#include "interpose/blocking.h"
#include "interpose/export.h"
#include "interpose/take_lock.h"
#include "kernel/real.h"

namespace {

template <typename Lock>
COZ_WRAPPER_PART int lock_mutex(pthread_mutex_t* mutex, Lock lock) {
  return coz::take_lock(
      mutex, coz::holder_of, coz::LockUse::kAlone,
      [=] { return COZ_REAL(pthread_mutex_trylock)(mutex); }, coz::is_busy, lock,
      coz::wake_source_of_error_number);
}

// Of a recursive mutex that the thread has taken more than once: the lock stays held.
bool stays_held(const pthread_mutex_t* mutex) noexcept {
  constexpr int kTypes = 3;
  const auto& data = mutex->__data;
  return (data.__kind & kTypes) == PTHREAD_MUTEX_RECURSIVE_NP && data.__count > 1;
}
// One of C11 is one of POSIX inside.
bool stays_held(const mtx_t* mutex) noexcept {
  return stays_held(reinterpret_cast<const pthread_mutex_t*>(mutex));
}

template <typename Mutex, typename Unlock>
COZ_WRAPPER_PART int unlock_mutex(const Mutex* mutex, Unlock unlock) {
  auto delays = coz::Session::current_delays();
  if (!delays || stays_held(mutex)) return unlock();
  return coz::rules::release_mutex(
      *delays, coz::LazyKey(mutex), [=] { return coz::is_waited_for(mutex); }, unlock);
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

COZ_EXPORT int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  return coz::try_lock(mutex, coz::LockUse::kAlone,
                       [=] { return COZ_REAL(pthread_mutex_trylock)(mutex); });
}

COZ_EXPORT int pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* time) noexcept {
  return lock_mutex(mutex, [=] { return COZ_REAL(pthread_mutex_timedlock)(mutex, time); });
}

COZ_EXPORT int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                                       const timespec* time) noexcept {
  const auto lock = [=] { return COZ_REAL(pthread_mutex_clocklock)(mutex, clock, time); };
  return coz::is_valid(clock) ? lock_mutex(mutex, lock) : lock();
}

COZ_EXPORT int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  return unlock_mutex(mutex, [=] { return COZ_REAL(pthread_mutex_unlock)(mutex); });
}

COZ_EXPORT int mtx_lock(mtx_t* mutex) {
  return lock_c11(mutex, [=] { return COZ_REAL(mtx_lock)(mutex); });
}

COZ_EXPORT int mtx_trylock(mtx_t* mutex) {
  return coz::try_lock(mutex, coz::LockUse::kAlone, [=] { return COZ_REAL(mtx_trylock)(mutex); });
}

COZ_EXPORT int mtx_timedlock(mtx_t* mutex, const timespec* time) {
  return lock_c11(mutex, [=] { return COZ_REAL(mtx_timedlock)(mutex, time); });
}

COZ_EXPORT int mtx_unlock(mtx_t* mutex) {
  return unlock_mutex(mutex, [=] { return COZ_REAL(mtx_unlock)(mutex); });
}
