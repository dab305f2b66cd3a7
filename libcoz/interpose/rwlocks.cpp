// Read-write locks: a reader waits for a writer, a writer for all that hold the lock.
#include <pthread.h>

#include "interpose/blocking.h"
#include "interpose/export.h"
#include "kernel/real.h"

namespace {

using coz::key;

template <typename Attempt, typename Lock>
COZ_WRAPPER_PART int take(pthread_rwlock_t* lock, Attempt attempt, Lock call) {
  auto delays = coz::Session::current_delays();
  if (!delays) return call();
  return coz::rules::acquire(*delays, key(lock), attempt, coz::is_busy, call,
                             coz::wake_source_of_error_number);
}

template <typename Lock>
COZ_WRAPPER_PART int take_shared(pthread_rwlock_t* lock, Lock call) {
  return take(lock, [=] { return COZ_REAL(pthread_rwlock_tryrdlock)(lock); }, call);
}

template <typename Lock>
COZ_WRAPPER_PART int take_alone(pthread_rwlock_t* lock, Lock call) {
  return take(lock, [=] { return COZ_REAL(pthread_rwlock_trywrlock)(lock); }, call);
}

}  // namespace

COZ_EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t* lock) noexcept {
  return take_shared(lock, [=] { return COZ_REAL(pthread_rwlock_rdlock)(lock); });
}

COZ_EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t* lock, const timespec* time) noexcept {
  return take_shared(lock, [=] { return COZ_REAL(pthread_rwlock_timedrdlock)(lock, time); });
}

COZ_EXPORT int pthread_rwlock_clockrdlock(pthread_rwlock_t* lock, clockid_t clock,
                                          const timespec* time) noexcept {
  return take_shared(lock, [=] { return COZ_REAL(pthread_rwlock_clockrdlock)(lock, clock, time); });
}

COZ_EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t* lock) noexcept {
  return take_alone(lock, [=] { return COZ_REAL(pthread_rwlock_wrlock)(lock); });
}

COZ_EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t* lock, const timespec* time) noexcept {
  return take_alone(lock, [=] { return COZ_REAL(pthread_rwlock_timedwrlock)(lock, time); });
}

COZ_EXPORT int pthread_rwlock_clockwrlock(pthread_rwlock_t* lock, clockid_t clock,
                                          const timespec* time) noexcept {
  return take_alone(lock, [=] { return COZ_REAL(pthread_rwlock_clockwrlock)(lock, clock, time); });
}

COZ_EXPORT int pthread_rwlock_unlock(pthread_rwlock_t* lock) noexcept {
  if (auto delays = coz::Session::current_delays()) delays->before_waking(key(lock));
  return COZ_REAL(pthread_rwlock_unlock)(lock);
}
