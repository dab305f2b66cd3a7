// Semaphores of POSIX. sem_post may be called in a signal handler, also in one that interrupted
// another of our wrappers; ThreadDelays allows for that.
#include <pthread.h>
#include <semaphore.h>

#include "interpose/blocking.h"
#include "interpose/export.h"
#include "kernel/real.h"

namespace {

using coz::key;

// sem_wait is a cancellation point even if it need not wait; sem_trywait is not.
template <typename Wait>
COZ_WRAPPER_PART int wait_for_unit(sem_t* semaphore, Wait wait) {
  auto delays = coz::Session::current_delays();
  if (!delays) return wait();
  const int saved = errno;
  pthread_testcancel();
  return coz::rules::acquire(
      *delays, key(semaphore), [=] { return COZ_REAL(sem_trywait)(semaphore); },
      [=](int result) {
        if (result == 0 || errno != EAGAIN) return false;
        errno = saved;
        return true;
      },
      [=] { return coz::past_samples(wait, coz::is_interrupted); }, coz::wake_source_of_errno,
      coz::WaitsFor::kQueue);
}

}  // namespace

COZ_EXPORT int sem_wait(sem_t* semaphore) {
  return wait_for_unit(semaphore, [=] { return COZ_REAL(sem_wait)(semaphore); });
}

COZ_EXPORT int sem_timedwait(sem_t* semaphore, const timespec* time) {
  return wait_for_unit(semaphore, [=] { return COZ_REAL(sem_timedwait)(semaphore, time); });
}

COZ_EXPORT int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* time) {
  return wait_for_unit(semaphore, [=] { return COZ_REAL(sem_clockwait)(semaphore, clock, time); });
}

COZ_EXPORT int sem_post(sem_t* semaphore) noexcept {
  auto delays = coz::Session::current_delays();
  if (!delays) return COZ_REAL(sem_post)(semaphore);
  return coz::rules::release(*delays, key(semaphore),
                             [=] { return COZ_REAL(sem_post)(semaphore); });
}
