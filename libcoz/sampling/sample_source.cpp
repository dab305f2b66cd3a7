#include "sampling/sample_source.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/perf_event.h"
#include "common/raw_syscall.h"
#include "kernel/message.h"
#include "kernel/own_thread.h"
#include "kernel/small_file.h"
#include "sampling/sample_cost.h"

namespace coz {
namespace {

// SIGSTKFLT is never raised by Linux and hardly used by anyone; being a standard signal, it does
// not queue up in a thread that blocks it.
constexpr int kOwnSignal = SIGSTKFLT;

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

}  // namespace

bool is_tick(const siginfo_t& info) noexcept {
  if (info.si_code == SI_QUEUE) {
    return reinterpret_cast<std::uintptr_t>(info.si_value.sival_ptr) == kTickMark;
  }
  // Where the user has too many signals pending, the kernel leaves out who sent it, and what.
  return info.si_code == SI_USER && info.si_pid == 0;
}

int sampling_signal(Sampling mode) noexcept {
  return mode == Sampling::kPerfTrap ? SIGTRAP : kOwnSignal;
}

int SampleSource::signal() const noexcept { return sampling_signal(mode_); }

const char* SampleSource::mode_name() const noexcept {
  switch (mode_) {
    case Sampling::kPerfTrap:
      return "perf-trap";
    case Sampling::kPerfSignal:
      return "perf-signal";
    case Sampling::kTimer:
      return "timer";
    case Sampling::kOff:
      return "off";
    case Sampling::kAuto:
      break;
  }
  return "none";
}

bool SampleSource::start(Sampling wanted, std::string& explanation) {
  const bool samples = choose(wanted, explanation);
  started_.store(true, std::memory_order_release);
  return samples;
}

bool SampleSource::choose(Sampling wanted, std::string& explanation) {
  mode_ = wanted;
  if (wanted == Sampling::kOff) return false;
  long error = 0;
  if (wanted == Sampling::kAuto || wanted == Sampling::kPerfTrap) {
    mode_ = Sampling::kPerfTrap;
    trap_event_ = open_trap_event(period_);
    if (trap_event_ >= 0) return true;
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
  if (trap_event_ >= 0) close_event(trap_event_);
  trap_event_ = -1;
  if (timer_runs_) {
    stop_timer_.stop();
    pthread_join(timer_, nullptr);
    timer_runs_ = false;
  }
}

void SampleSource::pause() noexcept {
  if (!can_pause()) return;
  if (trap_event_ >= 0) set_event_counting(trap_event_, false);
  pauses_.begin();
}

void SampleSource::resume() noexcept {
  if (!can_pause()) return;
  pauses_.end();
  if (trap_event_ >= 0) set_event_counting(trap_event_, true);
}

Nanoseconds SampleSource::measure_cost() const noexcept {
  return mode_ == Sampling::kPerfTrap ? measure_trap_cost() : 0;
}

bool SampleSource::start_thread(ThreadState& thread) noexcept {
  const int tid = thread.tid.load(std::memory_order_relaxed);
  if (mode_ != Sampling::kPerfSignal) return true;
  const long event = open_signal_event(period_, kOwnSignal, tid);
  thread.event = static_cast<int>(event);
  return event >= 0;
}

void SampleSource::stop_thread(ThreadState& thread) noexcept {
  if (thread.event >= 0) close_event(thread.event);
  thread.event = -1;
}

bool SampleSource::start_timer() {
  timer_runs_ = start_own_thread(timer_, run_timer, this) == 0;
  return timer_runs_;
}

void* SampleSource::run_timer(void* self) {
  const OwnThread own("coz-timer");
  tighten_timer_slack();
  auto& source = *static_cast<SampleSource*>(self);
  while (source.stop_timer_.sleep_for(source.period_)) source.tick();
  return nullptr;
}

// Signals each thread that has used another period of processor time. A thread that sleeps uses
// none and is left alone: a timer that fired regardless would interrupt its system call.
void SampleSource::tick() {
  if (pauses_.is_paused()) return;
  const auto process = static_cast<long>(getpid());
  siginfo_t mark = {};
  mark.si_signo = kOwnSignal;
  mark.si_code = SI_QUEUE;
  mark.si_pid = static_cast<int>(process);
  mark.si_value.sival_ptr = reinterpret_cast<void*>(kTickMark);
  threads_.for_each([&](ThreadState& thread) {
    const int tid = thread.tid.load(std::memory_order_acquire);
    const Nanoseconds used = thread_cpu_time(tid);
    if (used < 0 || thread.delay.blocked.load(std::memory_order_relaxed)) return;
    if (thread.next_tick == 0) thread.next_tick = used + period_;
    if (used < thread.next_tick) return;
    thread.next_tick += period_;
    // After a while without ticks (stopped, starved) missed samples are not made up for.
    if (used - thread.next_tick > 10 * period_) thread.next_tick = used + period_;
    raw_syscall(SYS_rt_tgsigqueueinfo, process, tid, kOwnSignal, reinterpret_cast<long>(&mark));
  });
}

}  // namespace coz
