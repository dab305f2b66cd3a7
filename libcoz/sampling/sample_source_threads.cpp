// What SampleSource does for one thread: its first samples, and the events and timers of its own.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

#include "common/perf_event.h"
#include "common/raw_syscall.h"
#include "kernel/thread_timer.h"
#include "sampling/sample_source.h"

namespace coz {
namespace {

// In mode timer, a thread that has used so many periods takes samples from ticks.
constexpr Nanoseconds kYoungPeriods = 8;

Nanoseconds median(std::array<Nanoseconds, 9>& values) noexcept {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

// Of an event that the thread has just opened, or a timer that it has just set. It shows as the
// longest gap between two looks at the clock, whoever handles the signal.
template <typename Begin, typename End>
FirstInterrupt measure_interrupt(Begin begin, End end) noexcept {
  constexpr Nanoseconds kPeriod = 60 * kMicrosecond;
  std::array<Nanoseconds, 9> lateness{};
  std::array<Nanoseconds, 9> cost{};
  for (std::size_t i = 0; i < lateness.size(); ++i) {
    const auto event = begin(kPeriod);
    if (event < 0) return {};
    const Nanoseconds start = now();
    for (Nanoseconds last = start, time = start; last < start + kPeriod * 3 / 2; last = time) {
      time = now();
      if (last < start + kPeriod / 2 || time - last <= cost[i]) continue;
      cost[i] = time - last;
      lateness[i] = last - start - kPeriod;
    }
    end(event);
  }
  return {median(lateness), median(cost)};
}

// Another number for each sample (the finalizer of SplitMix64).
std::uint64_t random_of(const ThreadState& thread) noexcept {
  std::uint64_t x = (thread.number << 32 | thread.samples) * 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

int tid_of(const ThreadState& thread) noexcept {
  return thread.tid.load(std::memory_order_relaxed);
}

}  // namespace

bool SampleSource::start_thread(ThreadState& thread, Age age) noexcept {
  thread.pauses_seen = pauses_.count();
  if (mode_ == Sampling::kPerfSignal) return open_event_for(thread, age);
  if (mode_ == Sampling::kTimer) {
    thread.is_ticked = true;
    const Nanoseconds used = thread_cpu_time(tid_of(thread));
    const Nanoseconds phase = age == Age::kOld ? period_ : draw_phase();
    if (age == Age::kOld || !begin_with_own_timer(thread, used, phase)) {
      thread.ticks.begin(used, used + phase, period_);
    }
  } else if (mode_ == Sampling::kPerfTrap) {
    thread.accounted = age == Age::kNew ? 0 : thread_cpu_time(tid_of(thread));
    thread.pauses_accounted = thread.pauses_seen;
    thread.kernel.start_at(thread.accounted, period_);
    // What the thread is not expected to live to see needs no event.
    const Nanoseconds phase = age == Age::kOld ? period_ : draw_phase();
    if (age == Age::kOld || phase <= lives_.expected_at_most()) open_own_event(thread, phase);
  }
  return true;
}

bool SampleSource::open_event_for(ThreadState& thread, Age age) noexcept {
  const Nanoseconds phase = age == Age::kOld ? period_ : draw_phase();
  const Nanoseconds first = age == Age::kOld ? period_ : event_period(phase);
  const long event = open_signal_event(first, signal(), tid_of(thread));
  const Nanoseconds used = thread_cpu_time(tid_of(thread));
  thread.sample_times.begin(used, phase, first);
  thread.kernel.start_at(used, phase);
  thread.event = static_cast<int>(event);
  return event >= 0;
}

// Also in the signal handler.
bool SampleSource::open_own_event(ThreadState& thread, Nanoseconds phase) noexcept {
  if (pauses_.is_paused()) return false;
  const bool has_room = own_events_.fetch_add(1, std::memory_order_relaxed) < max_own_events_;
  const Nanoseconds first = event_period(phase);
  long event = has_room ? open_own_trap_event(first, kernel_, true) : -EMFILE;
  // The program may have given up the right since it started.
  if (event == -EACCES) event = open_own_trap_event(first, KernelMode::kExcluded, true);
  if (event < 0) {
    own_events_.fetch_sub(1, std::memory_order_relaxed);
    return false;
  }
  const Nanoseconds used = thread_cpu_time(tid_of(thread));
  thread.sample_times.begin(used, phase, first);
  thread.kernel.start_at(used, phase);
  thread.events = &own_events_;
  thread.event = static_cast<int>(event);
  return true;
}

bool SampleSource::begin_with_own_timer(ThreadState& thread, Nanoseconds used,
                                        Nanoseconds phase) noexcept {
  const Nanoseconds end = lives_.expected_at_most();
  if (phase > end || pauses_.is_paused()) return false;
  const bool has_room = own_events_.fetch_add(1, std::memory_order_relaxed) < max_own_events_;
  const int timer = has_room ? create_thread_timer(signal(), kTimerMark) : -EAGAIN;
  if (timer < 0) {
    own_events_.fetch_sub(1, std::memory_order_relaxed);
    return false;
  }
  thread.young_timer.begin(used, phase, used + std::min(end, kYoungPeriods * period_));
  thread.events = &own_events_;
  thread.timer = timer;
  thread.delay.has_timer = true;
  set_timer(thread, used);
  return true;
}

int SampleSource::takes(ThreadState& thread, const SampleSignal& signal) noexcept {
  if (mode_ == Sampling::kTimer) return !signal.from_own_event || takes_timer(thread) ? 1 : 0;
  if (signal.from_own_event) return takes_own(thread) ? 1 : 0;
  return mode_ == Sampling::kPerfTrap ? takes_from_process(thread) : 0;
}

bool SampleSource::takes_own(ThreadState& thread) noexcept {
  if (thread.event < 0 || thread.measures_interrupt) return false;
  const bool is_paused = pauses_.is_paused();
  if (is_paused && thread.in_pause.are_too_many(pauses_.count())) {
    set_event_counting(thread.event, false);
    thread.event_is_stopped = true;
    return false;
  }
  SampleTimes& samples = thread.sample_times;
  const Nanoseconds used = thread_cpu_time(tid_of(thread));
  const bool is_sample = samples.is_steady() || samples.raised_at(used, period_, in_kernel());
  if (samples.is_steady()) {
    samples.raised(used, random_of(thread), period_);
    thread.kernel.expect_next(samples.due(), samples.event_period());
  }
  set_event_period(thread.event, samples.event_period());
  return is_sample && !is_paused;
}

// A thread without an event of its own gets one, and its samples up to now. One whose event was
// stopped in a pause goes on.
int SampleSource::takes_from_process(ThreadState& thread) noexcept {
  if (thread.event >= 0 && !thread.event_is_stopped) {
    if (!thread.sample_times.is_lost()) return 0;
    stop_thread(thread);
  }
  if (pauses_.is_paused()) return 0;
  const Nanoseconds used = thread_cpu_time(tid_of(thread));
  thread.kernel.start_at(used, period_);
  if (thread.event_is_stopped) {
    thread.event_is_stopped = false;
    set_event_counting(thread.event, true);
    return 1;
  }
  // The event counts nothing in a pause.
  const bool has_paused = thread.pauses_accounted != pauses_.count();
  const int max_periods = (has_paused ? 1 : 2) * kProcessPeriods;
  const Nanoseconds since = std::min(used - thread.accounted, max_periods * period_);
  thread.accounted = used;
  thread.pauses_accounted = pauses_.count();
  open_own_event(thread, draw_phase());
  return static_cast<int>(since / period_) +
         (lives_.draw_whether(since % period_, period_) ? 1 : 0);
}

bool SampleSource::takes_timer(ThreadState& thread) noexcept {
  if (thread.timer < 0) return false;
  const Nanoseconds used = thread_cpu_time(tid_of(thread));
  const bool is_sample = thread.young_timer.fired(used, period_) && !pauses_.is_paused();
  if (thread.young_timer.is_over() || pauses_.is_paused()) {
    stop_thread(thread);
    thread.ticks.begin(used, std::max(thread.young_timer.due(), used), period_);
  } else if (!thread.delay.timer_held.load(std::memory_order_relaxed)) {
    set_timer(thread, used);
  }
  return is_sample;
}

void SampleSource::run_timer(ThreadState& thread, bool runs) noexcept {
  if (thread.timer < 0) return;
  if (runs) {
    set_timer(thread, thread_cpu_time(tid_of(thread)));
  } else {
    set_thread_timer(thread.timer, 0);
  }
}

void SampleSource::set_timer(ThreadState& thread, Nanoseconds used) noexcept {
  const Nanoseconds lateness = lateness_.load(std::memory_order_relaxed);
  set_thread_timer(thread.timer, thread.young_timer.set(used, lateness));
}

void SampleSource::hold(bool holds) noexcept {
  if (in_kernel() != InKernel::kMerged) return;
  holders_.fetch_add(holds ? 1 : -1);
  if (trap_event_ < 0) return;
  const auto may_count = [&] { return holders_.load() == 0 && !pauses_.is_paused(); };
  // Others may hold it, too, or let it go.
  for (bool counts = !may_count(); counts != may_count();) {
    counts = !counts;
    set_event_counting(trap_event_, counts);
  }
}

void SampleSource::hold(ThreadState& thread, bool holds) noexcept {
  if (thread.event < 0 || thread.event_is_stopped) return;
  set_event_counting(thread.event, !holds);
}

void SampleSource::stop_thread(ThreadState& thread) noexcept {
  if (thread.event >= 0) {
    set_event_counting(thread.event, false);  // a child of the process may have its descriptor, too
    close_event(thread.event);
  }
  if (thread.timer >= 0) delete_thread_timer(thread.timer);
  thread.delay.has_timer = false;
  thread.event = thread.timer = ThreadState::kNone;
  thread.event_is_stopped = false;
  if (thread.events != nullptr) thread.events->fetch_sub(1, std::memory_order_relaxed);
  thread.events = nullptr;
}

Nanoseconds SampleSource::draw_phase() noexcept {
  return lives_.draw_phase(period_ - cost_.load(std::memory_order_relaxed));
}

Nanoseconds SampleSource::event_period(Nanoseconds phase) const noexcept {
  return std::max(phase - lateness_.load(std::memory_order_relaxed), SampleTimes::kMinPeriod);
}

FirstInterrupt SampleSource::measure_interrupt_in(ThreadState& thread) const noexcept {
  const auto close = [](long event) noexcept { raw_syscall(SYS_close, event); };
  if (mode_ == Sampling::kPerfTrap) {
    const auto open = [kernel = kernel_](Nanoseconds period) {
      return open_own_trap_event(period, kernel, true);
    };
    return measure_interrupt(open, close);
  }
  if (mode_ == Sampling::kPerfSignal) {
    const auto open = [signal = signal(), tid = tid_of(thread)](Nanoseconds period) {
      return open_signal_event(period, signal, tid);
    };
    return measure_interrupt(open, close);
  }
  const auto set = [signal = signal()](Nanoseconds time) {
    const int timer = create_thread_timer(signal, kTimerMark);
    if (timer >= 0) set_thread_timer(timer, time);
    return timer;
  };
  return measure_interrupt(set, [](int timer) { delete_thread_timer(timer); });
}

void SampleSource::prepare(ThreadState& parent) noexcept {
  if (!knows_interrupt_.exchange(true)) {
    parent.measures_interrupt = true;
    const FirstInterrupt found = measure_interrupt_in(parent);
    parent.measures_interrupt = false;
    lateness_ = found.lateness;
    cost_ = std::min(found.cost, period_ / 4);
  }
  if (mode_ == Sampling::kPerfTrap && parent.event >= 0) return;  // that keeps them apart
  const long event = mode_ == Sampling::kPerfTrap ? open_separator_event() : -ENOENT;
  // Without one it is not tried again for each thread.
  parent.separator = event >= 0 ? static_cast<int>(event) : -ENOENT;
}

void SampleSource::end_thread(ThreadState& thread) noexcept {
  stop_thread(thread);
  if (thread.separator >= 0) close_event(thread.separator);
  thread.separator = ThreadState::kNone;
}

}  // namespace coz
