// A write of ours in a thread of the program that has no consequence for the program. At a limit on
// the size of files the kernel sends the writing thread SIGXFSZ, and where nobody reads a pipe any
// more SIGPIPE; both end the process.
//
// Any thread, also in signal handlers. Returns what write() returns, or -errno.
#ifndef LIBCOZ_KERNEL_HARMLESS_WRITE_H
#define LIBCOZ_KERNEL_HARMLESS_WRITE_H

#include <errno.h>
#include <signal.h>
#include <time.h>

#include <cstddef>

#include "common/raw_syscall.h"
#include "kernel/signal_bits.h"

namespace coz {

inline long harmless_write(int descriptor, const char* data, std::size_t size) noexcept {
  // In the kernel's own form, so that nothing that wraps libc's functions sees it.
  constexpr SignalBits kBoth = bit_of(SIGXFSZ) | bit_of(SIGPIPE);
  const auto address = [](const void* what) noexcept { return reinterpret_cast<long>(what); };
  const SignalBits before = change_kernel_mask(SIG_BLOCK, kBoth);
  SignalBits pending = 0;
  // If the program has blocked one and it is pending, then that is the program's.
  raw_syscall(SYS_rt_sigpending, address(&pending), sizeof pending);
  const long result = raw_syscall(SYS_write, descriptor, address(data), static_cast<long>(size));
  const SignalBits came = kBoth & ~pending;
  if ((result == -EFBIG || result == -EPIPE) && came != 0) {
    const timespec at_once = {0, 0};
    raw_syscall(SYS_rt_sigtimedwait, address(&came), 0, address(&at_once), sizeof came);
  }
  change_kernel_mask(SIG_SETMASK, before);
  return result;
}

}  // namespace coz

#endif  // LIBCOZ_KERNEL_HARMLESS_WRITE_H
