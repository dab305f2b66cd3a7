// Two calls that programs make by syscall() (futex.cpp), and that libc's functions for them, which
// we stand in for, would not see: the end of the process, and the thread's mask of signals.
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/raw_syscall.h"
#include "kernel/real.h"
#include "lifecycle/point_totals.h"
#include "lifecycle/runtime.h"
#include "signals/program_signals.h"

namespace {

// With errno, and without what libc's functions leave out.
int in_kernel(int how, const sigset_t* set, sigset_t* before) {
  return static_cast<int>(
      COZ_REAL(syscall)(SYS_rt_sigprocmask, how, set, before, sizeof(coz::SignalBits)));
}

// By a call that fails in any case, after it has read.
bool is_readable(long set) noexcept {
  constexpr long kNoSuchWay = -1;
  return set == 0 || coz::raw_syscall(SYS_rt_sigprocmask, kNoSuchWay, set, 0,
                                      sizeof(coz::SignalBits)) != -EFAULT;
}

}  // namespace

extern "C" {

__attribute__((visibility("hidden"), used)) long coz_exit_group(long number, long status) {
  coz::Runtime::finish();
  coz::PointTotals::finish();
  return COZ_REAL(syscall)(number, status);
}

__attribute__((visibility("hidden"), used)) long coz_set_mask(long number, long how, long set,
                                                              long before, long size) {
  coz::SignalBits bits = 0;
  sigset_t was = {};
  // What the kernel refuses; and programs ask by it whether they may read what `set` points to.
  const bool is_known = how == SIG_BLOCK || how == SIG_UNBLOCK || how == SIG_SETMASK;
  if (!is_known || size != sizeof bits || !is_readable(set)) {
    return COZ_REAL(syscall)(number, how, set, before, size);
  }
  // Before `before` is written: both may be one set.
  sigset_t own = {};
  if (set != 0) std::memcpy(&own, reinterpret_cast<const void*>(set), sizeof bits);
  if (before != 0 && COZ_REAL(syscall)(number, SIG_BLOCK, 0L, before, size) != 0) return -1;
  const int result = coz::program_signals.change_mask(static_cast<int>(how),
                                                      set == 0 ? nullptr : &own, &was, in_kernel);
  if (result == 0 && before != 0) {
    bits = coz::bits_of(was);
    std::memcpy(reinterpret_cast<void*>(before), &bits, sizeof bits);
  }
  return result;
}
}
