#include "common/clock.h"

#include <sys/prctl.h>
#include <time.h>

#include <cerrno>

#include "common/raw_syscall.h"

namespace coz {
namespace {

Nanoseconds in_nanoseconds(const timespec& t) { return t.tv_sec * kSecond + t.tv_nsec; }

}  // namespace

Nanoseconds now() noexcept {
  // libc's version goes to the vdso: 24 ns where a system call takes several hundred. It cannot
  // fail for this clock, so errno stays as it was.
  timespec t = {};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return in_nanoseconds(t);
}

Nanoseconds wall_clock() noexcept {
  timespec t = {};
  clock_gettime(CLOCK_REALTIME, &t);
  return in_nanoseconds(t);
}

Nanoseconds thread_cpu_time(int tid) noexcept {
  // The kernel's encoding of a thread's scheduler clock (CPUCLOCK_PERTHREAD_MASK | CPUCLOCK_SCHED).
  const long clock = static_cast<long>((~static_cast<unsigned>(tid) << 3) | 6U);
  timespec t = {};
  if (raw_syscall(SYS_clock_gettime, static_cast<int>(clock), reinterpret_cast<long>(&t)) != 0) {
    return -1;
  }
  return in_nanoseconds(t);
}

Nanoseconds own_processor_time() noexcept {
  timespec t = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return in_nanoseconds(t);
}

Nanoseconds others_processor_time() noexcept {
  timespec all = {};
  if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &all) != 0) return 0;
  return in_nanoseconds(all) - own_processor_time();
}

Nanoseconds pause_until(Nanoseconds deadline) noexcept {
  const long slack = raw_syscall(SYS_prctl, PR_GET_TIMERSLACK);
  raw_syscall(SYS_prctl, PR_SET_TIMERSLACK, 1);
  const timespec t = {deadline / kSecond, deadline % kSecond};
  while (raw_syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME,
                     reinterpret_cast<long>(&t), 0) == -EINTR) {
  }
  if (slack > 0) raw_syscall(SYS_prctl, PR_SET_TIMERSLACK, slack);
  return now();
}

void tighten_timer_slack() noexcept { raw_syscall(SYS_prctl, PR_SET_TIMERSLACK, 1); }

}  // namespace coz
