// A write by us in a thread of the program, which the program must not pay for: at a limit on the
// size of files the kernel sends the writing thread SIGXFSZ, and SIGPIPE where nobody reads a pipe
// any more; both end the process.
//
// Any thread, also in signal handlers. Returns what write() does, a failure as -errno.
#ifndef LIBCOZ_KERNEL_HARMLESS_WRITE_H
#define LIBCOZ_KERNEL_HARMLESS_WRITE_H

#include <errno.h>
#include <signal.h>
#include <time.h>

#include <cstddef>
#include <cstdint>

#include "common/raw_syscall.h"

namespace coz {

inline long harmless_write(int descriptor, const char* data, std::size_t size) noexcept {
  // The kernel's own sets, so that nothing that wraps libc's functions sees them.
  constexpr std::uint64_t kBoth =
      (std::uint64_t{1} << (SIGXFSZ - 1)) | (std::uint64_t{1} << (SIGPIPE - 1));
  const auto address = [](const void* what) noexcept { return reinterpret_cast<long>(what); };
  std::uint64_t before = 0;
  std::uint64_t pending = 0;
  raw_syscall(SYS_rt_sigprocmask, SIG_BLOCK, address(&kBoth), address(&before), sizeof before);
  // The program may have them blocked, and one waiting: that one is its own.
  raw_syscall(SYS_rt_sigpending, address(&pending), sizeof pending);
  const long result = raw_syscall(SYS_write, descriptor, address(data), static_cast<long>(size));
  const std::uint64_t came = kBoth & ~pending;
  if ((result == -EFBIG || result == -EPIPE) && came != 0) {
    const timespec at_once = {0, 0};
    raw_syscall(SYS_rt_sigtimedwait, address(&came), 0, address(&at_once), sizeof came);
  }
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, address(&before), 0, sizeof before);
  return result;
}

}  // namespace coz

#endif  // LIBCOZ_KERNEL_HARMLESS_WRITE_H
