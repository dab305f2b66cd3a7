// Condition variables of POSIX and of C11, and barriers.
#include <pthread.h>
#include <threads.h>

#include "interpose/blocking.h"
#include "interpose/export.h"
#include "interpose/real.h"

namespace {

using coz::key;
using coz::WokenBy;

// Whatever the result is, the thread has released the mutex and taken it again; after a time-out
// nobody has signalled.
template <typename Wait>
COZ_WRAPPER_PART int wait_for_condition(const void* condition, const void* mutex, Wait wait) {
  auto delays = coz::Runtime::current_delays();
  if (!delays) return wait();
  return coz::rules::wait_for_condition(*delays, key(condition), key(mutex), wait, [](int result) {
    return result == 0 ? WokenBy::kThread : WokenBy::kStranger;
  });
}

template <typename Signal>
COZ_WRAPPER_PART int signal_condition(const void* condition, Signal signal) {
  auto delays = coz::Runtime::current_delays();
  if (!delays) return signal();
  return coz::rules::signal_condition(*delays, key(condition), signal);
}

static_assert(thrd_success == 0);

}  // namespace

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
  return signal_condition(condition, [=] { return COZ_REAL(pthread_cond_signal)(condition); });
}

COZ_EXPORT int pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
  return signal_condition(condition, [=] { return COZ_REAL(pthread_cond_broadcast)(condition); });
}

COZ_EXPORT int cnd_wait(cnd_t* condition, mtx_t* mutex) {
  return wait_for_condition(condition, mutex, [=] { return COZ_REAL(cnd_wait)(condition, mutex); });
}

COZ_EXPORT int cnd_timedwait(cnd_t* condition, mtx_t* mutex, const timespec* time) {
  return wait_for_condition(condition, mutex,
                            [=] { return COZ_REAL(cnd_timedwait)(condition, mutex, time); });
}

COZ_EXPORT int cnd_signal(cnd_t* condition) {
  return signal_condition(condition, [=] { return COZ_REAL(cnd_signal)(condition); });
}

COZ_EXPORT int cnd_broadcast(cnd_t* condition) {
  return signal_condition(condition, [=] { return COZ_REAL(cnd_broadcast)(condition); });
}

COZ_EXPORT int pthread_barrier_wait(pthread_barrier_t* barrier) noexcept {
  auto delays = coz::Runtime::current_delays();
  if (!delays) return COZ_REAL(pthread_barrier_wait)(barrier);
  // The last to arrive opens the barrier: nobody woke it.
  return coz::rules::meet(
      *delays, key(barrier), [=] { return COZ_REAL(pthread_barrier_wait)(barrier); },
      [](int result) { return result == 0 ? WokenBy::kThread : WokenBy::kNobody; });
}
