#include "common/clock.h"

#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <utility>

#include "common/raw_syscall.h"

namespace coz {
namespace {

// The kernel's struct sched_attr in its first version; its header and libc's exclude each other.
struct SchedulingAttributes {
  std::uint32_t size;
  std::uint32_t policy;
  std::uint64_t flags;
  std::int32_t nice;
  std::uint32_t priority;
  std::uint64_t runtime;  // of SCHED_OTHER: the length of a turn
  std::uint64_t deadline;
  std::uint64_t period;
};

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

// No `pause` instruction: hypervisors deschedule loops that have one (docs/decisions/pauses.md).
Nanoseconds pause_busily_until(Nanoseconds deadline) noexcept {
  // Under the policies of real time, a thread that yields keeps the processor from all others.
  constexpr long kThisThread = 0;
  const long policy = raw_syscall(SYS_sched_getscheduler, kThisThread) & ~long{SCHED_RESET_ON_FORK};
  if (policy != SCHED_OTHER && policy != SCHED_BATCH) return pause_until(deadline);
  // Others wait for kBetweenYields at most. Where a yield takes longer than kOtherRan, one has run.
  constexpr Nanoseconds kBetweenYields = 20 * kMicrosecond, kOtherRan = 30 * kMicrosecond;
  Nanoseconds time = now();
  while (time < deadline) {
    const Nanoseconds next = std::min(deadline, time + kBetweenYields);
    while ((time = now()) < next) {
    }
    if (time >= deadline) break;
    raw_syscall(SYS_sched_yield);
    const Nanoseconds yielded = std::exchange(time, now());
    if (time - yielded > kOtherRan && time < deadline) return pause_until(deadline);
  }
  return time;
}

void wake_on_time() noexcept {
  raw_syscall(SYS_prctl, PR_SET_TIMERSLACK, 1);
  constexpr long kThisThread = 0;
  constexpr std::uint64_t kShortestTurn = 100 * kMicrosecond;
  SchedulingAttributes attributes = {};
  if (raw_syscall(SYS_sched_getattr, kThisThread, reinterpret_cast<long>(&attributes),
                  sizeof attributes, 0) != 0 ||
      attributes.policy != SCHED_OTHER) {
    return;
  }
  attributes.runtime = kShortestTurn;
  // Without it, ticks come later: nothing else depends on it.
  raw_syscall(SYS_sched_setattr, kThisThread, reinterpret_cast<long>(&attributes), 0);
}

}  // namespace coz
