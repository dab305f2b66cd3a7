// Condition variables of POSIX and of C11, and barriers.
#include <pthread.h>
#include <threads.h>

#include "interpose/blocking.h"
#include "interpose/deadline.h"
#include "interpose/export.h"
#include "kernel/real.h"

namespace {

using coz::Deadline;
using coz::key;
using coz::Nanoseconds;
using coz::time_of;
using coz::WakeSource;

template <typename Condition, typename Mutex, typename Wait, typename WakeSourceOf>
COZ_WRAPPER_PART int wait_for_condition(const Condition* condition, const Mutex* mutex, Wait wait,
                                        WakeSourceOf wake_source_of, const timespec* deadline) {
  const Nanoseconds behind = coz::behind_schedule(deadline);
  auto delays = coz::Session::current_delays();
  if (!delays) return wait(behind);
  const auto role =
      reinterpret_cast<std::uintptr_t>(condition) - reinterpret_cast<std::uintptr_t>(mutex);
  return coz::rules::wait_for_condition(
      *delays, {key(condition), key(mutex), role}, [=] { return coz::is_waited_for(mutex); },
      [=](Nanoseconds later) { return wait(behind + later); }, wake_source_of,
      [=] { return time_of(deadline) + behind; });
}

template <typename Wait>
COZ_WRAPPER_PART int wait_for_posix(pthread_cond_t* condition, pthread_mutex_t* mutex, Wait wait,
                                    const timespec* deadline = nullptr) {
  return wait_for_condition(condition, mutex, wait, coz::wake_source_of_error_number, deadline);
}

template <typename Wait>
COZ_WRAPPER_PART int wait_for_c11(cnd_t* condition, mtx_t* mutex, Wait wait,
                                  const timespec* deadline = nullptr) {
  return wait_for_condition(condition, mutex, wait, coz::wake_source_of_c11, deadline);
}

template <typename Condition, typename Signal>
COZ_WRAPPER_PART int signal_condition(const Condition* condition, Signal signal) {
  auto delays = coz::Session::current_delays();
  if (!delays) return signal();
  return coz::rules::signal_condition(*delays, key(condition), signal);
}

}  // namespace

COZ_EXPORT int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  return wait_for_posix(condition, mutex,
                        [=](Nanoseconds) { return COZ_REAL(pthread_cond_wait)(condition, mutex); });
}

COZ_EXPORT int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                      const timespec* time) {
  return wait_for_posix(
      condition, mutex,
      [=](Nanoseconds later) {
        const Deadline until(time, later);
        return COZ_REAL(pthread_cond_timedwait)(condition, mutex, until.get());
      },
      time);
}

COZ_EXPORT int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                      clockid_t clock, const timespec* time) {
  return wait_for_posix(
      condition, mutex,
      [=](Nanoseconds later) {
        const Deadline until(time, later);
        return COZ_REAL(pthread_cond_clockwait)(condition, mutex, clock, until.get());
      },
      time);
}

COZ_EXPORT int pthread_cond_signal(pthread_cond_t* condition) noexcept {
  return signal_condition(condition, [=] { return COZ_REAL(pthread_cond_signal)(condition); });
}

COZ_EXPORT int pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
  return signal_condition(condition, [=] { return COZ_REAL(pthread_cond_broadcast)(condition); });
}

COZ_EXPORT int cnd_wait(cnd_t* condition, mtx_t* mutex) {
  return wait_for_c11(condition, mutex,
                      [=](Nanoseconds) { return COZ_REAL(cnd_wait)(condition, mutex); });
}

COZ_EXPORT int cnd_timedwait(cnd_t* condition, mtx_t* mutex, const timespec* time) {
  return wait_for_c11(
      condition, mutex,
      [=](Nanoseconds later) {
        const Deadline until(time, later);
        return COZ_REAL(cnd_timedwait)(condition, mutex, until.get());
      },
      time);
}

COZ_EXPORT int cnd_signal(cnd_t* condition) {
  return signal_condition(condition, [=] { return COZ_REAL(cnd_signal)(condition); });
}

COZ_EXPORT int cnd_broadcast(cnd_t* condition) {
  return signal_condition(condition, [=] { return COZ_REAL(cnd_broadcast)(condition); });
}

COZ_EXPORT int pthread_barrier_wait(pthread_barrier_t* barrier) noexcept {
  auto delays = coz::Session::current_delays();
  if (!delays) return COZ_REAL(pthread_barrier_wait)(barrier);
  // The last thread to arrive opens the barrier: it did not wait.
  return coz::rules::meet(
      *delays, key(barrier), [=] { return COZ_REAL(pthread_barrier_wait)(barrier); },
      [](int result) { return result == 0 ? WakeSource::kThread : WakeSource::kNone; });
}
