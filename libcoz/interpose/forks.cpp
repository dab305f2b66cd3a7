// Forking: a child may be the process to profile (COZ_FORKED). _Fork() and clone() have no wrapper,
// since in the child of a signal handler nothing else may be called.
#include <pty.h>
#include <unistd.h>

#include "interpose/export.h"
#include "kernel/real.h"
#include "lifecycle/forked_start.h"

COZ_EXPORT pid_t fork() noexcept {
  const pid_t child = COZ_REAL(fork)();
  if (child == 0) coz::ForkedStart::in_child();
  return child;
}

// libc's own call of fork inside does not go through our wrapper.
COZ_EXPORT int daemon(int keeps_folder, int keeps_descriptors) noexcept {
  const int result = COZ_REAL(daemon)(keeps_folder, keeps_descriptors);
  if (result == 0) coz::ForkedStart::in_child();
  return result;
}

COZ_EXPORT int forkpty(int* controller, char* name, const termios* settings,
                       const winsize* size) noexcept {
  const int child = COZ_REAL(forkpty)(controller, name, settings, size);
  if (child == 0) coz::ForkedStart::in_child();
  return child;
}
