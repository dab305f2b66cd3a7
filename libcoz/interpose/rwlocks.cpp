// Read-write locks: a reader waits for a writer, a writer for all that hold the lock.
#include <pthread.h>

#include "interpose/blocking.h"
#include "interpose/export.h"
#include "interpose/take_lock.h"
#include "kernel/real.h"

namespace {

using coz::key;

// The thread that has it alone; 0 while readers share it, or nobody has it.
coz::LockHolder writer_of(const void* lock) noexcept {
  const auto& data = static_cast<const pthread_rwlock_t*>(lock)->__data;
  return static_cast<coz::LockHolder>(__atomic_load_n(&data.__cur_writer, __ATOMIC_RELAXED));
}

template <typename Lock>
COZ_WRAPPER_PART int take_shared(pthread_rwlock_t* lock, Lock call) {
  return coz::take_lock(
      lock, writer_of, coz::LockUse::kShared,
      [=] { return COZ_REAL(pthread_rwlock_tryrdlock)(lock); }, coz::is_busy, call,
      coz::wake_source_of_error_number);
}

template <typename Lock>
COZ_WRAPPER_PART int take_alone(pthread_rwlock_t* lock, Lock call) {
  return coz::take_lock(
      lock, writer_of, coz::LockUse::kAlone,
      [=] { return COZ_REAL(pthread_rwlock_trywrlock)(lock); }, coz::is_busy, call,
      coz::wake_source_of_error_number);
}

}  // namespace

COZ_EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t* lock) noexcept {
  return take_shared(lock, [=] { return COZ_REAL(pthread_rwlock_rdlock)(lock); });
}

COZ_EXPORT int pthread_rwlock_tryrdlock(pthread_rwlock_t* lock) noexcept {
  return coz::try_lock(lock, coz::LockUse::kShared,
                       [=] { return COZ_REAL(pthread_rwlock_tryrdlock)(lock); });
}

COZ_EXPORT int pthread_rwlock_trywrlock(pthread_rwlock_t* lock) noexcept {
  return coz::try_lock(lock, coz::LockUse::kAlone,
                       [=] { return COZ_REAL(pthread_rwlock_trywrlock)(lock); });
}

COZ_EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t* lock, const timespec* time) noexcept {
  const auto call = [=] { return COZ_REAL(pthread_rwlock_timedrdlock)(lock, time); };
  return coz::is_valid(time) ? take_shared(lock, call) : call();
}

COZ_EXPORT int pthread_rwlock_clockrdlock(pthread_rwlock_t* lock, clockid_t clock,
                                          const timespec* time) noexcept {
  const auto call = [=] { return COZ_REAL(pthread_rwlock_clockrdlock)(lock, clock, time); };
  return coz::is_valid(clock) && coz::is_valid(time) ? take_shared(lock, call) : call();
}

COZ_EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t* lock) noexcept {
  return take_alone(lock, [=] { return COZ_REAL(pthread_rwlock_wrlock)(lock); });
}

COZ_EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t* lock, const timespec* time) noexcept {
  const auto call = [=] { return COZ_REAL(pthread_rwlock_timedwrlock)(lock, time); };
  return coz::is_valid(time) ? take_alone(lock, call) : call();
}

COZ_EXPORT int pthread_rwlock_clockwrlock(pthread_rwlock_t* lock, clockid_t clock,
                                          const timespec* time) noexcept {
  const auto call = [=] { return COZ_REAL(pthread_rwlock_clockwrlock)(lock, clock, time); };
  return coz::is_valid(clock) && coz::is_valid(time) ? take_alone(lock, call) : call();
}

COZ_EXPORT int pthread_rwlock_unlock(pthread_rwlock_t* lock) noexcept {
  const auto unlock = [=] { return COZ_REAL(pthread_rwlock_unlock)(lock); };
  auto delays = coz::Session::current_delays();
  return delays ? coz::rules::release_rwlock(*delays, key(lock), unlock) : unlock();
}
