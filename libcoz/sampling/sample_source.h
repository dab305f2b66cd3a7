// Where samples come from: perf's trap event, a perf event for each thread, or, where perf is
// refused, a timer thread of our own. docs/decisions/sampling.md compares them.
//
// start() runs once, in the main thread, before it is profiled. start_thread() and stop_thread()
// run in the thread that begins or ends. Any thread may call stop(). pause() and resume() are for
// the experiments' thread, once is_started(). Not for signal handlers, unless stated otherwise.
#ifndef LIBCOZ_SAMPLING_SAMPLE_SOURCE_H
#define LIBCOZ_SAMPLING_SAMPLE_SOURCE_H

#include <pthread.h>
#include <signal.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "common/perf_event.h"
#include "common/text.h"
#include "kernel/stop_signal.h"
#include "sampling/sampling_pauses.h"
#include "thread/thread_lives.h"
#include "thread/thread_registry.h"

namespace coz {

enum class Sampling { kAuto, kPerfTrap, kPerfSignal, kTimer, kOff };
inline constexpr std::array kSamplingNames = {"none", "perf-trap", "perf-signal", "timer", "off"};

// The process's trap event has so many times the period of samples: it is for threads that have no
// event of their own, which it then opens for them (docs/decisions/sampling.md).
inline constexpr int kProcessPeriods = 16;

// What a signal says of its sample.
struct SampleSignal {
  // The period ended while the thread blocked the signal, and the thread has gone on since.
  bool is_late;
  // It comes from an event that the thread has for itself, not from one of the process or a tick.
  bool from_own_event;
};

// Of an event or a timer that a thread has just begun: how much later than its period it is raised,
// counted from the return of that call: less than 0 if the call takes longer than the interrupt is
// late. And how long the interrupt and the signal take: an old thread's periods contain that time,
// so that the phases of new ones are drawn from what is left of a period.
struct FirstInterrupt {
  Nanoseconds lateness = 0;
  Nanoseconds cost = 0;
};

class SampleSource {
 public:
  SampleSource(ThreadRegistry& threads, ThreadLives& lives, Nanoseconds period) noexcept
      : threads_(threads), lives_(lives), period_(period) {}

  // Chooses the mode, with time in the kernel if it may be included. Sets `explanation` if it is
  // not the best one. False if no mode works, or none is wanted (kOff): then nothing is sampled.
  bool start(Sampling wanted, KernelMode best, std::string& explanation);
  void stop() noexcept;

  // In a tree, before start(): other processes cannot be paused from here.
  void never_pause() noexcept { may_pause_ = false; }
  // In a program that another process of a tree has executed, before start().
  void begin_in_child() noexcept { is_in_child_ = true; }
  // In a forked child that is profiled with its parent: what start() has chosen begins there.
  // Returns 0 or -errno. In mode timer it starts a thread.
  long start_in_child() noexcept;
  // In the sample handler: like stop(), but leaves a timer thread to itself. Signal-safe.
  void stop_in_handler() noexcept;

  // True once start() has returned.
  bool is_started() const noexcept { return started_.load(std::memory_order_acquire); }

  // Between pause() and resume() no thread is sampled. If every thread has an event of its own, in
  // the program's descriptors, that is not possible, and both do nothing.
  bool can_pause() const noexcept {
    return may_pause_ && (mode_ == Sampling::kPerfTrap || mode_ == Sampling::kTimer);
  }
  void pause() noexcept;
  void resume() noexcept;
  // The process's event no longer counts, not in a tree either. Before stop(), for a thread with
  // descriptors of its own.
  void disable() noexcept;
  const SamplingPauses& pauses() const noexcept { return pauses_; }

  // What the interrupt and the signal of a sample cost, measured in the calling thread, which is
  // one of ours; 0 if that is little or unknown.
  Nanoseconds measure_cost() const noexcept;

  // The descriptor that pause() needs, for a thread with descriptors of its own; below 0 if it
  // needs none.
  int descriptor() const noexcept { return static_cast<int>(trap_event_); }

  // A thread that is kNew takes its first sample at a phase of its period (thread/thread_lives.h),
  // as does the first of a forked child: kForked, right after start_in_child().
  enum class Age { kOld, kNew, kForked };
  // False if the thread cannot be sampled.
  bool start_thread(ThreadState& thread, Age age) noexcept;
  // As how many samples a signal to the calling thread is to be taken. Signal-safe.
  int takes(ThreadState& thread, const SampleSignal& signal) noexcept;
  // The calling thread is about to create another, which is to have samples of its own.
  void before_creating(ThreadState& parent) noexcept {
    if (mode_ != Sampling::kOff && parent.separator == ThreadState::kNone) prepare(parent);
  }
  // Ticks were due while the calling thread was in a call into the kernel, which returns now.
  void take_missed_ticks(ThreadState& thread) noexcept;
  // Stops the calling thread's own timer, if it has one, or lets it run again.
  void run_timer(ThreadState& thread, bool runs) noexcept;
  // While anyone holds it, the process's event counts nothing, if it would in the kernel; likewise
  // a thread's own. Signal-safe.
  void hold(bool holds) noexcept;
  static void hold(ThreadState& thread, bool holds) noexcept;
  // Signal-safe.
  static void stop_thread(ThreadState& thread) noexcept;
  static void end_thread(ThreadState& thread) noexcept;

  // The signal that carries samples.
  int signal() const noexcept;
  const char* mode_name() const noexcept { return name_of(mode_, kSamplingNames); }
  Sampling mode() const noexcept { return mode_; }
  InKernel in_kernel() const noexcept {
    if (mode_ == Sampling::kTimer) return InKernel::kEach;
    return kernel_ == KernelMode::kIncluded ? InKernel::kMerged : InKernel::kDropped;
  }

 private:
  bool choose(Sampling wanted, KernelMode best, std::string& explanation);
  bool open_event_for(ThreadState& thread, Age age) noexcept;
  bool open_own_event(ThreadState& thread, Nanoseconds phase) noexcept;
  void prepare(ThreadState& parent) noexcept;
  FirstInterrupt measure_interrupt_in(ThreadState& thread) const noexcept;
  Nanoseconds draw_phase() noexcept;
  Nanoseconds event_period(Nanoseconds phase) const noexcept;
  bool begin_with_own_timer(ThreadState& thread, Nanoseconds used, Nanoseconds phase) noexcept;
  bool takes_own(ThreadState& thread) noexcept;
  int takes_from_process(ThreadState& thread) noexcept;
  bool takes_timer(ThreadState& thread) noexcept;
  void set_timer(ThreadState& thread, Nanoseconds used) noexcept;
  bool start_timer();
  bool tick(Nanoseconds interval);
  static void* run_timer(void* self);

  ThreadRegistry& threads_;
  ThreadLives& lives_;
  Nanoseconds period_;
  Sampling mode_ = Sampling::kAuto;
  KernelMode kernel_ = KernelMode::kExcluded;
  long trap_event_ = -1;
  // How many threads have an event, or young ones a timer, of their own, and may have at most.
  std::atomic<int> own_events_{0};
  int max_own_events_ = 0;
  std::atomic<Nanoseconds> lateness_{0};
  std::atomic<Nanoseconds> cost_{0};
  std::atomic<bool> knows_interrupt_{false};
  std::atomic<bool> started_{false};
  std::atomic<int> holders_{0};
  bool may_pause_ = true;
  bool is_in_child_ = false;  // of a tree
  SamplingPauses pauses_;
  pthread_t timer_{};
  bool timer_runs_ = false;
  StopSignal stop_timer_;
};

// The values that the signals of our timer thread carry, and those of young threads' timers.
inline constexpr std::uintptr_t kTickMark = 0x6b636974'7a6f6320;
inline constexpr std::uintptr_t kTimerMark = 0x72656d69'7a6f6320;

// True if our timer thread sent this signal, and not the program, by raise() or otherwise; if a
// timer of the thread's own did. Signal-safe.
bool is_tick(const siginfo_t& info) noexcept;
bool is_own_timer(const siginfo_t& info) noexcept;

// The signal that carries the samples of a mode.
int sampling_signal(Sampling mode) noexcept;

}  // namespace coz

#endif  // LIBCOZ_SAMPLING_SAMPLE_SOURCE_H
