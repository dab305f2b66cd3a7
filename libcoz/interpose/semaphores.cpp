// Semaphores of POSIX. sem_post may be called in a signal handler, also in one that interrupted
// another of our wrappers; ThreadDelays allows for that.
#include <pthread.h>
#include <semaphore.h>

#include "interpose/blocking.h"
#include "interpose/deadline.h"
#include "interpose/export.h"
#include "kernel/real.h"

namespace {

using coz::key;

// sem_wait is a cancellation point even if it need not wait; sem_trywait is not. `wait(deadline)`:
// the real call. `deadline`: nullptr for none.
template <typename Wait>
COZ_WRAPPER_PART int wait_for_unit(sem_t* semaphore, Wait wait, const timespec* deadline) {
  auto delays = coz::Session::current_delays();
  if (!delays) return wait(deadline);
  const int saved = errno;
  pthread_testcancel();
  return coz::rules::acquire_until(
      *delays, key(semaphore), [=] { return COZ_REAL(sem_trywait)(semaphore); },
      [=](int result) {
        if (result == 0 || errno != EAGAIN) return false;
        errno = saved;
        return true;
      },
      [=](coz::Nanoseconds later) {
        const coz::Deadline until(deadline, later);
        return coz::past_samples([&] { return wait(until.get()); }, coz::is_interrupted);
      },
      coz::wake_source_of_errno, [](int result) { return result == -1 && errno == ETIMEDOUT; },
      [=] { return coz::time_of(deadline); }, coz::WaitsFor::kQueue);
}

}  // namespace

COZ_EXPORT int sem_wait(sem_t* semaphore) {
  return wait_for_unit(
      semaphore, [=](const timespec*) { return COZ_REAL(sem_wait)(semaphore); }, nullptr);
}

COZ_EXPORT int sem_trywait(sem_t* semaphore) noexcept {
  if (auto delays = coz::Session::current_delays()) delays->settle();
  return COZ_REAL(sem_trywait)(semaphore);
}

COZ_EXPORT int sem_timedwait(sem_t* semaphore, const timespec* time) {
  const auto wait = [=](const timespec* until) {
    return COZ_REAL(sem_timedwait)(semaphore, until);
  };
  return coz::is_valid(time) ? wait_for_unit(semaphore, wait, time) : wait(time);
}

COZ_EXPORT int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* time) {
  const auto wait = [=](const timespec* until) {
    return COZ_REAL(sem_clockwait)(semaphore, clock, until);
  };
  const bool is_valid = coz::is_valid(clock) && coz::is_valid(time);
  return is_valid ? wait_for_unit(semaphore, wait, time) : wait(time);
}

COZ_EXPORT int sem_post(sem_t* semaphore) noexcept {
  auto delays = coz::Session::current_delays();
  if (!delays) return COZ_REAL(sem_post)(semaphore);
  return coz::rules::release(*delays, key(semaphore),
                             [=] { return COZ_REAL(sem_post)(semaphore); });
}
