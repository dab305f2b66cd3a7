// Two calls that programs make by syscall() (futex.cpp), and that libc's functions for them, which
// we stand in for, would not see: the end of the process, and the thread's mask of signals.
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "interpose/real.h"
#include "interpose/sample_signal.h"
#include "runtime.h"

extern "C" {

__attribute__((visibility("hidden"), used)) long coz_exit_group(long number, long status) {
  coz::Runtime::finish();
  return COZ_REAL(syscall)(number, status);
}

// The kernel's set has as many bytes as the program says, fewer than libc's.
__attribute__((visibility("hidden"), used)) long coz_set_mask(long number, long how, long set,
                                                              long before, long size) {
  sigset_t own;
  if (set == 0 || how == SIG_UNBLOCK || size < 0 || static_cast<unsigned long>(size) > sizeof own) {
    return COZ_REAL(syscall)(number, how, set, before, size);
  }
  sigemptyset(&own);
  std::memcpy(&own, reinterpret_cast<const void*>(set), static_cast<std::size_t>(size));
  coz::take_out_ours(own);
  return COZ_REAL(syscall)(number, how, reinterpret_cast<long>(&own), before, size);
}
}
