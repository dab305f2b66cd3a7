// Waiting for child processes. They run unprofiled, so there is no credit, but with --tree: there
// the end of a child wakes its parent, like the end of a thread whoever joins it.
#include <sys/wait.h>

#include "interpose/blocking.h"
#include "interpose/export.h"
#include "kernel/real.h"

namespace {

using coz::Session;
using coz::WaitClass;

// `call(options)` returns the child; 0 if none has ended, and it was not to wait. A child that
// ended long ago has not woken the caller; so the attempt comes first, as in joining a thread.
template <typename Call>
COZ_WRAPPER_PART pid_t wait_for_child(int options, Call call) {
  if (Session::object_salt() == 0) {
    return coz::wait_outside(WaitClass::kChild, [=] { return call(options); });
  }
  auto delays = Session::current_delays();
  if (!delays) return call(options);
  const coz::KernelCall kernel_call;
  return coz::rules::wait_for_end(
      *delays, [=] { return call(options | WNOHANG); },
      [=](pid_t ended) { return ended == 0 && (options & WNOHANG) == 0; },
      [=] { return call(options); },
      [](pid_t ended) { return Session::object_of_process(ended > 0 ? ended : 0); });
}

}  // namespace

COZ_EXPORT pid_t wait(int* status) {
  return wait_for_child(0, [=](int options) {
    return options == 0 ? COZ_REAL(wait)(status) : COZ_REAL(waitpid)(-1, status, options);
  });
}

COZ_EXPORT pid_t waitpid(pid_t process, int* status, int options) {
  return wait_for_child(options, [=](int way) { return COZ_REAL(waitpid)(process, status, way); });
}

COZ_EXPORT pid_t wait3(int* status, int options, rusage* usage) noexcept {
  return wait_for_child(options, [=](int way) { return COZ_REAL(wait3)(status, way, usage); });
}

COZ_EXPORT pid_t wait4(pid_t process, int* status, int options, rusage* usage) noexcept {
  return wait_for_child(options,
                        [=](int way) { return COZ_REAL(wait4)(process, status, way, usage); });
}

// The child is in `info`, if that is given.
COZ_EXPORT int waitid(idtype_t type, id_t id, siginfo_t* info, int options) {
  const auto call = [=](int way) { return COZ_REAL(waitid)(type, id, info, way); };
  auto delays = Session::object_salt() == 0 ? std::nullopt : Session::current_delays();
  if (!delays || info == nullptr) {
    return coz::wait_outside(WaitClass::kChild, [=] { return call(options); });
  }
  const coz::KernelCall kernel_call;
  info->si_pid = 0;
  return coz::rules::wait_for_end(
      *delays, [=] { return call(options | WNOHANG); },
      [=](int result) { return result == 0 && info->si_pid == 0 && (options & WNOHANG) == 0; },
      [=] { return call(options); },
      [=](int result) { return Session::object_of_process(result == 0 ? info->si_pid : 0); });
}
