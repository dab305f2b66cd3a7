// Descriptors of ours, out of the way of programs that count on the lowest numbers, or close those.
//
// Signal-safe: raw system calls.
#ifndef COMMON_HIGH_DESCRIPTOR_H
#define COMMON_HIGH_DESCRIPTOR_H

#include <fcntl.h>

#include "common/raw_syscall.h"

namespace coz {

// The same file at 512 or above, close-on-exec, and `descriptor` closed. Where no number is that
// high it stays as it is, but for being close-on-exec.
inline int move_high(int descriptor) noexcept {
  constexpr long kHigh = 512;
  const long high = raw_syscall(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, kHigh);
  if (high < 0) {
    raw_syscall(SYS_fcntl, descriptor, F_SETFD, FD_CLOEXEC);
    return descriptor;
  }
  raw_syscall(SYS_close, descriptor);
  return static_cast<int>(high);
}

}  // namespace coz

#endif  // COMMON_HIGH_DESCRIPTOR_H
