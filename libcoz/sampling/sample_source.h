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

#include <atomic>
#include <cstdint>
#include <string>

#include "kernel/stop_signal.h"
#include "sampling/sampling_pauses.h"
#include "thread/thread_registry.h"

namespace coz {

enum class Sampling { kAuto, kPerfTrap, kPerfSignal, kTimer, kOff };

class SampleSource {
 public:
  SampleSource(ThreadRegistry& threads, Nanoseconds period) noexcept
      : threads_(threads), period_(period) {}

  // Chooses the mode. Sets `explanation` if it is not the best one. False if no mode works, or none
  // is wanted (kOff): then nothing is sampled.
  bool start(Sampling wanted, std::string& explanation);
  void stop() noexcept;

  // True once start() has returned.
  bool is_started() const noexcept { return started_.load(std::memory_order_acquire); }

  // Between pause() and resume() no thread is sampled. If every thread has an event of its own, in
  // the program's descriptors, that is not possible, and both do nothing.
  bool can_pause() const noexcept {
    return mode_ == Sampling::kPerfTrap || mode_ == Sampling::kTimer;
  }
  void pause() noexcept;
  void resume() noexcept;
  const SamplingPauses& pauses() const noexcept { return pauses_; }

  // What the interrupt and the signal of a sample cost, measured in the calling thread, which is
  // one of ours; 0 if that is little or unknown.
  Nanoseconds measure_cost() const noexcept;

  // The descriptor that pause() needs, for a thread with descriptors of its own; below 0 if it
  // needs none.
  int descriptor() const noexcept { return static_cast<int>(trap_event_); }

  // In perf-trap mode the kernel does this by itself. False if the thread cannot be sampled.
  bool start_thread(ThreadState& thread) noexcept;
  // Signal-safe.
  static void stop_thread(ThreadState& thread) noexcept;

  // The signal that carries samples.
  int signal() const noexcept;
  const char* mode_name() const noexcept;
  Sampling mode() const noexcept { return mode_; }
  // perf drops samples in kernel mode; the timer's signals wait until the thread returns from the
  // kernel.
  bool drops_kernel_time() const noexcept { return mode_ != Sampling::kTimer; }

 private:
  bool choose(Sampling wanted, std::string& explanation);
  bool start_timer();
  void tick();
  static void* run_timer(void* self);

  ThreadRegistry& threads_;
  Nanoseconds period_;
  Sampling mode_ = Sampling::kAuto;
  long trap_event_ = -1;
  std::atomic<bool> started_{false};
  SamplingPauses pauses_;
  pthread_t timer_{};
  bool timer_runs_ = false;
  StopSignal stop_timer_;
};

// The value that the signals of our timer carry.
inline constexpr std::uintptr_t kTickMark = 0x6b636974'7a6f6320;

// True if our timer thread sent this signal, and not the program, by raise() or otherwise.
// Signal-safe.
bool is_tick(const siginfo_t& info) noexcept;

// The signal that carries the samples of a mode.
int sampling_signal(Sampling mode) noexcept;

}  // namespace coz

#endif  // LIBCOZ_SAMPLING_SAMPLE_SOURCE_H
