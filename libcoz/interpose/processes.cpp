// Waiting for child processes: they run unprofiled, so there is no credit.
#include <sys/wait.h>

#include "interpose/blocking.h"
#include "interpose/export.h"
#include "kernel/real.h"

COZ_EXPORT pid_t wait(int* status) {
  return coz::wait_outside(coz::WaitClass::kChild, [=] { return COZ_REAL(wait)(status); });
}

COZ_EXPORT pid_t waitpid(pid_t process, int* status, int options) {
  return coz::wait_outside(coz::WaitClass::kChild,
                           [=] { return COZ_REAL(waitpid)(process, status, options); });
}

COZ_EXPORT pid_t wait3(int* status, int options, rusage* usage) noexcept {
  return coz::wait_outside(coz::WaitClass::kChild,
                           [=] { return COZ_REAL(wait3)(status, options, usage); });
}

COZ_EXPORT pid_t wait4(pid_t process, int* status, int options, rusage* usage) noexcept {
  return coz::wait_outside(coz::WaitClass::kChild,
                           [=] { return COZ_REAL(wait4)(process, status, options, usage); });
}

COZ_EXPORT int waitid(idtype_t type, id_t id, siginfo_t* info, int options) {
  return coz::wait_outside(coz::WaitClass::kChild,
                           [=] { return COZ_REAL(waitid)(type, id, info, options); });
}
