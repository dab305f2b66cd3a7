// Forking: a child may be the one that is to be profiled (COZ_FORKED). _Fork() and clone() must do
// nothing else, in the child of a signal handler, and are left alone.
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

// libc's own fork within is none that we see.
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
