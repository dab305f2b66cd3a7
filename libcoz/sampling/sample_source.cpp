#include "sampling/sample_source.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "common/raw_syscall.h"
#include "kernel/message.h"
#include "kernel/own_thread.h"
#include "kernel/small_file.h"
#include "kernel/thread_time.h"
#include "sampling/sample_cost.h"

namespace coz {
namespace {

// SIGSTKFLT is never raised by Linux and hardly used by anyone; being a standard signal, it does
// not queue up in a thread that blocks it.
constexpr int kOwnSignal = SIGSTKFLT;

// Events of threads, or timers of young ones, that there may be at once: a share of the descriptors
// that the program may use, or of the signals that it may have pending.
int max_events_of_threads(__rlimit_resource limited) noexcept {
  constexpr rlim_t kShare = 4;
  constexpr rlim_t kMax = 1024;
  rlimit limit = {};
  if (getrlimit(limited, &limit) != 0) return 0;
  return static_cast<int>(std::min(limit.rlim_cur / kShare, kMax));
}

std::string paranoia() {
  char text[16];
  const std::size_t length = read_small_file("/proc/sys/kernel/perf_event_paranoid", text);
  return length > 0 ? std::string(text, length - 1) : "?";  // less the line end
}

std::string why_refused(long error) {
  std::string reason = std::strerror(static_cast<int>(-error));
  if (error == -EACCES || error == -EPERM) {
    reason += "; kernel.perf_event_paranoid is " + paranoia();
  }
  return reason;
}

// False if the kernel refuses.
bool send_tick(int tid) noexcept {
  const auto process = static_cast<long>(getpid());
  siginfo_t mark = {};
  mark.si_signo = kOwnSignal;
  mark.si_code =
      SI_TIMER;  // those that are pending when the process executes a program are dropped
  mark.si_pid = static_cast<int>(process);
  mark.si_value.sival_ptr = reinterpret_cast<void*>(kTickMark);
  return raw_syscall(SYS_rt_tgsigqueueinfo, process, tid, kOwnSignal,
                     reinterpret_cast<long>(&mark)) == 0;
}

}  // namespace

void SampleSource::take_missed_ticks(ThreadState& thread) noexcept {
  std::uint32_t missed = thread.missed_ticks.exchange(0, std::memory_order_relaxed);
  if (mode_ != Sampling::kTimer) return;
  for (; missed > 0; --missed) send_tick(thread.tid.load(std::memory_order_relaxed));
}

bool is_tick(const siginfo_t& info) noexcept {
  if (info.si_code == SI_TIMER) {
    return reinterpret_cast<std::uintptr_t>(info.si_value.sival_ptr) == kTickMark;
  }
  // Where the user has too many signals pending, the kernel leaves out who sent it, and what.
  return info.si_code == SI_USER && info.si_pid == 0;
}

bool is_own_timer(const siginfo_t& info) noexcept {
  return info.si_code == SI_TIMER &&
         reinterpret_cast<std::uintptr_t>(info.si_value.sival_ptr) == kTimerMark;
}

int sampling_signal(Sampling mode) noexcept {
  return mode == Sampling::kPerfTrap ? SIGTRAP : kOwnSignal;
}

int SampleSource::signal() const noexcept { return sampling_signal(mode_); }

bool SampleSource::start(Sampling wanted, KernelMode best, std::string& explanation) {
  const bool samples = choose(wanted, best, explanation);
  started_.store(true, std::memory_order_release);
  return samples;
}

bool SampleSource::choose(Sampling wanted, KernelMode best, std::string& explanation) {
  mode_ = wanted;
  if (wanted == Sampling::kOff) return false;
  max_own_events_ = max_events_of_threads(RLIMIT_NOFILE);
  long error = 0;
  if (wanted == Sampling::kAuto || wanted == Sampling::kPerfTrap) {
    mode_ = Sampling::kPerfTrap;
    for (const KernelMode kernel : {best, KernelMode::kExcluded}) {
      kernel_ = kernel;
      trap_event_ = open_trap_event(kProcessPeriods * period_, kernel);
      if (trap_event_ >= 0) return true;
    }
    error = trap_event_;
  }
  if (wanted == Sampling::kAuto || wanted == Sampling::kPerfSignal) {
    mode_ = Sampling::kPerfSignal;
    const long probe =
        open_signal_event(period_, kOwnSignal, static_cast<int>(raw_syscall(SYS_gettid)));
    if (probe >= 0) {
      raw_syscall(SYS_close, probe);
      return true;
    }
    error = probe;
  }
  if (wanted == Sampling::kAuto || wanted == Sampling::kTimer) {
    mode_ = Sampling::kTimer;
    max_own_events_ = max_events_of_threads(RLIMIT_SIGPENDING);
    if (error != 0) {
      explanation =
          "perf events are refused (" + why_refused(error) +
          "); a timer takes the samples instead, which is less precise. To allow perf: "
          "sysctl kernel.perf_event_paranoid=2, or in a container, a seccomp profile with "
          "perf_event_open";
    }
    if (start_timer()) return true;
    explanation += explanation.empty() ? "" : "; and ";
    explanation += "no timer thread could be started, so that nothing is sampled";
    return false;
  }
  const bool too_old = mode_ == Sampling::kPerfTrap && error == -EOPNOTSUPP;
  explanation = std::string("samples by ") + mode_name() + " are refused (" + why_refused(error) +
                (too_old ? "; Linux 5.19 or later is needed" : "") +
                "), so that nothing is sampled; try --sampling auto";
  return false;
}

void SampleSource::stop() noexcept {
  const bool had_timer = timer_runs_;
  stop_in_handler();
  if (had_timer) pthread_join(timer_, nullptr);
}

long SampleSource::start_in_child() noexcept {
  own_events_.store(0, std::memory_order_relaxed);
  holders_.store(0, std::memory_order_relaxed);
  timer_runs_ = false;
  // The parent's, of which the child has descriptors.
  if (trap_event_ >= 0) close_event(trap_event_);
  threads_.for_each([](const ThreadState& thread) {
    if (thread.event >= 0) close_event(thread.event);
  });
  is_in_child_ = true;
  if (mode_ == Sampling::kTimer) return start_timer() ? 0 : -EAGAIN;
  if (mode_ != Sampling::kPerfTrap) return 0;
  trap_event_ = open_trap_event(kProcessPeriods * period_, kernel_);
  // The program may have given up the right since it started.
  if (trap_event_ == -EACCES) {
    trap_event_ = open_trap_event(kProcessPeriods * period_, KernelMode::kExcluded);
  }
  return trap_event_ < 0 ? trap_event_ : 0;
}

void SampleSource::stop_in_handler() noexcept {
  if (trap_event_ >= 0) close_event(trap_event_);
  trap_event_ = -1;
  if (timer_runs_) stop_timer_.stop();
  timer_runs_ = false;
}

void SampleSource::pause() noexcept {
  if (can_pause()) disable();
}

void SampleSource::disable() noexcept {
  if (trap_event_ >= 0) set_event_counting(trap_event_, false);
  pauses_.begin();  // or the next hold(false) would let it count again
}

void SampleSource::resume() noexcept {
  if (!can_pause()) return;
  pauses_.end();
  if (trap_event_ >= 0 && holders_.load() == 0) set_event_counting(trap_event_, true);
}

Nanoseconds SampleSource::measure_cost() const noexcept {
  return mode_ == Sampling::kPerfTrap ? measure_trap_cost() : 0;
}

bool SampleSource::start_timer() {
  timer_runs_ = start_own_thread(timer_, run_timer, this) == 0;
  return timer_runs_;
}

void* SampleSource::run_timer(void* self) {
  const OwnThread own("coz-timer");
  wake_on_time();
  auto& source = *static_cast<SampleSource*>(self);
  // Ticks differ in their place in the period, lest they keep step with the program. (They have no
  // part in the phases of threads, which would not be even without those that ticks draw.)
  ThreadLives places;
  const Nanoseconds period = source.period_;
  Nanoseconds next = now() + period;
  Nanoseconds last = now();
  while (source.stop_timer_.sleep_until(next + places.draw_phase(period))) {
    // More ticks find threads that are owed samples more often.
    const Nanoseconds time = now();
    const bool is_behind = source.tick(time - last);
    last = time;
    next = std::max(next + (is_behind ? period / 2 : period), now() - period / 4);
  }
  return nullptr;
}

// Signals each thread that has used another period of processor time. A thread that sleeps uses
// none and is left alone, as a signal would interrupt its system call; one that spins in a marked
// wait, or computes in a call into the kernel, uses it up. True if one is owed a further sample.
// `interval`: since the tick before.
bool SampleSource::tick(Nanoseconds interval) {
  const bool is_paused = pauses_.is_paused();
  bool is_behind = false;
  const int own = is_in_child_ ? static_cast<int>(getpid()) : ThreadState::kFirstProcess;
  threads_.for_each([&](ThreadState& thread) {
    if (thread.process.load(std::memory_order_relaxed) != own) return;
    const int tid = thread.tid.load(std::memory_order_acquire);
    if (thread.delay.blocked.load(std::memory_order_relaxed) &&
        !thread.is_in_kernel_call.load(std::memory_order_relaxed) &&
        !thread.delay.in_marked_wait.load(std::memory_order_relaxed)) {
      is_behind = thread.ticks.pass_over() || is_behind;
      return;
    }
    const Nanoseconds used = thread_cpu_time(tid);
    if (used < 0) return;
    if (is_paused) {
      thread.ticks.leave_out(used);
      return;
    }
    // A thread that has run nearly all the time has given its core to this one; others may have,
    // too, which the kernel tells at some cost.
    const auto is_running = [&](Nanoseconds since_tick) {
      return since_tick > interval / 4 * 3 || thread_cpu_time(tid) > used || is_runnable(tid);
    };
    if (thread.ticks.is_due(used, period_, is_running)) {
      // Either the thread sees this before it calls, and waits for the signal (KernelCall), or its
      // call is seen here.
      thread.tick_in_flight.store(true);
      const bool misses = thread.is_in_kernel_call.load();
      if (misses) thread.missed_ticks.fetch_add(1, std::memory_order_relaxed);
      if (misses || !send_tick(tid)) thread.tick_in_flight.store(false);
    }
    is_behind = is_behind || thread.ticks.is_behind(used, period_);
  });
  return is_behind;
}

}  // namespace coz
