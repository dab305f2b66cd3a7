// Mutexes of POSIX and of C11: taking one waits for whoever holds it, giving it back wakes the
// next.
#include <pthread.h>
#include <threads.h>

#include "interpose/blocking.h"
#include "interpose/export.h"
#include "interpose/real.h"

namespace {

using coz::key;
using coz::WokenBy;

// `lock`: whatever waits for the mutex. Trying first keeps the clock out of uncontended locking.
template <typename Lock>
COZ_WRAPPER_PART int lock_mutex(pthread_mutex_t* mutex, Lock lock) {
  auto delays = coz::Runtime::current_delays();
  if (!delays) return lock();
  return coz::rules::acquire(
      *delays, key(mutex), [=] { return COZ_REAL(pthread_mutex_trylock)(mutex); }, coz::is_busy,
      lock, coz::woken_by_error_number);
}

// Glibc's lock word: 1 while the mutex is taken and nobody waits for it, 2 while somebody may.
// Other kinds of mutexes (robust, inheriting priority) keep the owner there, and are taken to be
// waited for, which costs no more than a look at the clock.
bool is_waited_for(const pthread_mutex_t* mutex) noexcept {
  return __atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED) != 1;
}

template <typename Mutex, typename Unlock>
COZ_WRAPPER_PART int unlock_mutex(Mutex* mutex, Unlock unlock) {
  auto delays = coz::Runtime::current_delays();
  if (!delays) return unlock();
  // The C library's mtx_t is a pthread_mutex_t inside.
  const auto* const posix = reinterpret_cast<const pthread_mutex_t*>(mutex);
  return coz::rules::release_mutex(
      *delays, key(mutex), [=] { return is_waited_for(posix); }, unlock);
}

WokenBy woken_by_c11(int result) {
  if (result == thrd_success) return WokenBy::kThread;
  return result == thrd_timedout ? WokenBy::kStranger : WokenBy::kNobody;
}

template <typename Lock>
COZ_WRAPPER_PART int lock_c11(mtx_t* mutex, Lock lock) {
  auto delays = coz::Runtime::current_delays();
  if (!delays) return lock();
  return coz::rules::acquire(
      *delays, key(mutex), [=] { return COZ_REAL(mtx_trylock)(mutex); },
      [](int result) { return result == thrd_busy; }, lock, woken_by_c11);
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
