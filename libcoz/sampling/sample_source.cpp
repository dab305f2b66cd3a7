#include "sampling/sample_source.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
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

// In perf-trap mode, a thread that has used so many periods takes samples from the process's event.
constexpr Nanoseconds kYoungPeriods = 8;

// What ended threads may have left in all, in periods.
constexpr Nanoseconds kMaxLeftover = 64;

// What two samples of a thread must be apart.
constexpr Nanoseconds kApart = 60 * kMicrosecond;

// Events that young threads may have at once: a share of the descriptors that the program may use.
int max_events_of_threads() noexcept {
  constexpr rlim_t kShare = 4;
  constexpr rlim_t kMax = 1024;
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  return static_cast<int>(std::min(limit.rlim_cur / kShare, kMax));
}

// How much later than its period an event is raised in a thread that has just opened it, counted
// from the return of that call: less than 0 if the call takes longer than the interrupt is late. It
// shows as the longest gap between two looks at the clock, whoever handles the signal.
template <typename Open>
Nanoseconds measure_lateness(Open open) noexcept {
  constexpr Nanoseconds kPeriod = 60 * kMicrosecond;
  std::array<Nanoseconds, 9> found{};
  for (Nanoseconds& lateness : found) {
    const long event = open(kPeriod);
    if (event < 0) return 0;
    const Nanoseconds start = now();
    Nanoseconds longest = 0;
    for (Nanoseconds last = start, time = start; last < start + kPeriod * 3 / 2; last = time) {
      time = now();
      if (last < start + kPeriod / 2 || time - last <= longest) continue;
      longest = time - last;
      lateness = last - start - kPeriod;
    }
    raw_syscall(SYS_close, event);
  }
  std::nth_element(found.begin(), found.begin() + found.size() / 2, found.end());
  return found[found.size() / 2];
}

int tid_of(const ThreadState& thread) noexcept {
  return thread.tid.load(std::memory_order_relaxed);
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
    max_own_events_ = max_events_of_threads();
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
  const bool had_timer = timer_runs_;
  stop_in_handler();
  if (had_timer) pthread_join(timer_, nullptr);
}

long SampleSource::start_in_child() noexcept {
  own_events_.store(0, std::memory_order_relaxed);
  timer_runs_ = false;
  if (trap_event_ >= 0) close_event(trap_event_);  // the parent's, which the child has inherited
  is_in_child_ = true;
  if (mode_ == Sampling::kTimer) return start_timer() ? 0 : -EAGAIN;
  if (mode_ != Sampling::kPerfTrap) return 0;
  trap_event_ = open_trap_event(period_);
  return trap_event_ < 0 ? trap_event_ : 0;
}

void SampleSource::stop_in_handler() noexcept {
  if (trap_event_ >= 0) close_event(trap_event_);
  trap_event_ = -1;
  if (timer_runs_) stop_timer_.stop();
  timer_runs_ = false;
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

bool SampleSource::start_thread(ThreadState& thread, Age age) noexcept {
  thread.pauses_seen = pauses_.count();
  if (mode_ == Sampling::kPerfSignal) return open_event_for(thread, age);
  if (mode_ == Sampling::kTimer) {
    const Nanoseconds used = thread_cpu_time(tid_of(thread));
    thread.ticks.begin(used, thread.samples, age != Age::kOld, period_);
  } else if (age == Age::kOld) {
    thread.kernel.start_at(thread_cpu_time(tid_of(thread)), period_);
  } else if (mode_ == Sampling::kPerfTrap) {
    // The process's event counts from the thread's very start, but that of a child from now on.
    const Nanoseconds start = age == Age::kNew ? 0 : thread_cpu_time(tid_of(thread));
    thread.kernel.start_at(start, period_);
    begin_with_own_event(thread, start + period_);
  }
  return true;
}

bool SampleSource::open_event_for(ThreadState& thread, Age age) noexcept {
  const Nanoseconds phase = age == Age::kOld ? period_ : lives_.draw_phase(period_);
  const Nanoseconds first = age == Age::kOld ? period_ : event_period(phase);
  const long event = open_signal_event(first, kOwnSignal, tid_of(thread));
  const Nanoseconds used = thread_cpu_time(tid_of(thread));
  thread.first_samples.begin(used, phase, first, FirstSamples::kForever);
  thread.kernel.start_at(used, phase);
  thread.event = static_cast<int>(event);
  return event >= 0;
}

void SampleSource::begin_with_own_event(ThreadState& thread, Nanoseconds process_due) noexcept {
  const Nanoseconds phase = lives_.draw_phase(period_);
  const Nanoseconds end = lives_.expected_at_most();
  if (phase > end || pauses_.is_paused()) return;
  // The process's event may be due at about that time. Of two signals at a time one is lost.
  const Nanoseconds due = thread_cpu_time(tid_of(thread)) + phase;
  if (std::abs(due - process_due) < kApart) return;
  const bool has_room = own_events_.fetch_add(1, std::memory_order_relaxed) < max_own_events_;
  const Nanoseconds first = event_period(phase);
  const long event = has_room ? open_own_trap_event(first, true) : -EMFILE;
  if (event < 0) {
    own_events_.fetch_sub(1, std::memory_order_relaxed);
    return;
  }
  const Nanoseconds used = thread_cpu_time(tid_of(thread));
  thread.first_samples.begin(used, phase, first, used + std::min(end, kYoungPeriods * period_));
  thread.kernel.start_at(used, phase);
  thread.events = &own_events_;
  thread.event = static_cast<int>(event);
}

bool SampleSource::takes(ThreadState& thread, const SampleSignal& signal) noexcept {
  if (mode_ == Sampling::kTimer) return true;
  if (signal.from_own_event) return takes_own(thread);
  if (thread.event >= 0) {
    if (!thread.first_samples.is_lost()) return false;
    stop_thread(thread);
  }
  return !thread.first_samples.is_handed_over() || takes_over(thread);
}

bool SampleSource::takes_own(ThreadState& thread) noexcept {
  if (thread.event < 0) return false;
  if (pauses_.is_paused()) {
    stop_thread(thread);
    return false;
  }
  FirstSamples& samples = thread.first_samples;
  bool is_sample = true;
  const bool was_steady = samples.is_steady();
  if (was_steady) {
    samples.raised(period_);
  } else {
    is_sample = samples.raised_at(thread_cpu_time(tid_of(thread)), period_);
  }
  if (samples.is_over()) {
    samples.hand_over();
    stop_thread(thread);
  } else if (!was_steady) {
    set_event_period(thread.event, samples.event_period());
  }
  return is_sample;
}

bool SampleSource::takes_over(ThreadState& thread) noexcept {
  const Nanoseconds used = thread_cpu_time(tid_of(thread));
  const Nanoseconds stands_for = thread.first_samples.stands_for(used, period_);
  thread.first_samples.taken_over();
  if (lives_.draw_whether(stands_for, period_)) return true;
  thread.kernel.start_at(used, period_);
  return false;
}

void SampleSource::stop_thread(ThreadState& thread) noexcept {
  if (thread.event < 0) return;
  close_event(thread.event);
  thread.event = ThreadState::kNone;
  if (thread.events != nullptr) thread.events->fetch_sub(1, std::memory_order_relaxed);
  thread.events = nullptr;
}

Nanoseconds SampleSource::event_period(Nanoseconds phase) const noexcept {
  return std::max(phase - lateness_.load(std::memory_order_relaxed), FirstSamples::kMinPeriod);
}

void SampleSource::prepare(ThreadState& parent) noexcept {
  if (!knows_lateness_.exchange(true)) {
    const int tid = tid_of(parent);
    lateness_ = measure_lateness([&](Nanoseconds period) noexcept {
      return mode_ == Sampling::kPerfTrap ? open_own_trap_event(period, true)
                                          : open_signal_event(period, kOwnSignal, tid);
    });
  }
  const long event = mode_ == Sampling::kPerfTrap ? open_separator_event() : -ENOENT;
  // Without one it is not tried again for each thread.
  parent.separator = event >= 0 ? static_cast<int>(event) : -ENOENT;
}

void SampleSource::end_thread(ThreadState& thread) noexcept {
  stop_thread(thread);
  if (thread.separator >= 0) close_event(thread.separator);
  thread.separator = ThreadState::kNone;
}

bool SampleSource::start_timer() {
  timer_runs_ = start_own_thread(timer_, run_timer, this) == 0;
  return timer_runs_;
}

void* SampleSource::run_timer(void* self) {
  const OwnThread own("coz-timer");
  wake_on_time();
  auto& source = *static_cast<SampleSource*>(self);
  // Ticks differ in their place in the period, lest they keep step with the program.
  const Nanoseconds period = source.period_;
  Nanoseconds next = now() + period;
  Nanoseconds last = now();
  while (source.stop_timer_.sleep_until(next + source.lives_.draw_phase(period / 4))) {
    // More ticks find threads that are owed samples more often.
    const Nanoseconds time = now();
    const bool is_behind = source.tick(time - last) || source.leftover_.get() > 2 * period;
    last = time;
    next = std::max(next + (is_behind ? period / 2 : period), now() - period / 4);
  }
  return nullptr;
}

// Signals each thread that has used another period of processor time. A thread that sleeps uses
// none and is left alone: a timer that fired regardless would interrupt its system call. True if
// one is owed a further sample. `interval`: since the tick before.
bool SampleSource::tick(Nanoseconds interval) {
  if (pauses_.is_paused()) {
    leftover_.limit(0);  // as other threads are not sampled for what they use meanwhile
    return false;
  }
  bool is_behind = false;
  leftover_.limit(kMaxLeftover * period_);
  const auto process = static_cast<long>(getpid());
  const int own = is_in_child_ ? static_cast<int>(process) : ThreadState::kFirstProcess;
  siginfo_t mark = {};
  mark.si_signo = kOwnSignal;
  mark.si_code = SI_QUEUE;
  mark.si_pid = static_cast<int>(process);
  mark.si_value.sival_ptr = reinterpret_cast<void*>(kTickMark);
  threads_.for_each([&](ThreadState& thread) {
    if (thread.process.load(std::memory_order_relaxed) != own) return;
    const int tid = thread.tid.load(std::memory_order_acquire);
    const Nanoseconds used = thread_cpu_time(tid);
    if (used < 0) return;
    // A thread that has run nearly all the time has given its core to this one.
    const auto is_running = [=](Nanoseconds since_tick) {
      return since_tick > interval / 4 * 3 || thread_cpu_time(tid) > used;
    };
    if (!thread.delay.blocked.load(std::memory_order_relaxed) &&
        thread.ticks.is_due(used, period_, leftover_, is_running)) {
      raw_syscall(SYS_rt_tgsigqueueinfo, process, tid, kOwnSignal, reinterpret_cast<long>(&mark));
    }
    is_behind = is_behind || thread.ticks.is_behind(used, period_);
  });
  return is_behind;
}

}  // namespace coz
