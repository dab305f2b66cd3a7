// Mutexes, condition variables and barriers: each call tells the delays of the calling thread
// whom it may wake, and by whom it was woken (delay/thread_delays.h).
//
// errno and return values are the real call's.
#include <pthread.h>

#include <cerrno>

#include "interpose/export.h"
#include "interpose/real.h"
#include "runtime.h"

namespace {

using coz::WokenBy;

std::uintptr_t key(const void* object) { return reinterpret_cast<std::uintptr_t>(object); }

// The three forms of waiting for a condition. Waiting releases the mutex, and returning takes it
// again, so that both may be what the thread waited for.
template <typename Wait>
int wait_for_condition(const pthread_cond_t* condition, pthread_mutex_t* mutex, Wait wait) {
  auto delays = coz::Runtime::current_delays();
  if (!delays) return wait();
  delays->before_waking(key(mutex));
  delays->before_blocking();
  const int result = wait();
  // After a time-out nobody has signalled.
  delays->after_blocking(result == 0 ? WokenBy::kThread : WokenBy::kStranger,
                         {key(condition), key(mutex)});
  return result;
}

}  // namespace

COZ_EXPORT int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  auto delays = coz::Runtime::current_delays();
  if (!delays) return COZ_REAL(pthread_mutex_lock)(mutex);
  const int tried = COZ_REAL(pthread_mutex_trylock)(mutex);
  if (tried == 0 || tried == EOWNERDEAD) return tried;
  delays->before_blocking();
  const int result = COZ_REAL(pthread_mutex_lock)(mutex);
  const bool locked = result == 0 || result == EOWNERDEAD;
  delays->after_blocking(locked ? WokenBy::kThread : WokenBy::kNobody, {key(mutex)});
  return result;
}

COZ_EXPORT int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  if (auto delays = coz::Runtime::current_delays()) delays->before_waking(key(mutex));
  return COZ_REAL(pthread_mutex_unlock)(mutex);
}

COZ_EXPORT int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  return wait_for_condition(condition, mutex,
                            [=] { return COZ_REAL(pthread_cond_wait)(condition, mutex); });
}

COZ_EXPORT int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                      const timespec* time) {
  return wait_for_condition(
      condition, mutex, [=] { return COZ_REAL(pthread_cond_timedwait)(condition, mutex, time); });
}

COZ_EXPORT int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                      clockid_t clock, const timespec* time) {
  return wait_for_condition(condition, mutex, [=] {
    return COZ_REAL(pthread_cond_clockwait)(condition, mutex, clock, time);
  });
}

COZ_EXPORT int pthread_cond_signal(pthread_cond_t* condition) noexcept {
  if (auto delays = coz::Runtime::current_delays()) delays->before_waking(key(condition));
  return COZ_REAL(pthread_cond_signal)(condition);
}

COZ_EXPORT int pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
  if (auto delays = coz::Runtime::current_delays()) delays->before_waking(key(condition));
  return COZ_REAL(pthread_cond_broadcast)(condition);
}

COZ_EXPORT int pthread_barrier_wait(pthread_barrier_t* barrier) noexcept {
  auto delays = coz::Runtime::current_delays();
  if (!delays) return COZ_REAL(pthread_barrier_wait)(barrier);
  delays->before_waking(key(barrier));
  delays->before_blocking();
  const int result = COZ_REAL(pthread_barrier_wait)(barrier);
  // The last to arrive opens the barrier: nobody woke it.
  const bool waited = result == 0;
  delays->after_blocking(waited ? WokenBy::kThread : WokenBy::kNobody, {key(barrier)});
  return result;
}
