// Where samples come from: perf's trap event, a perf event for each thread, or, where perf is
// refused, a timer thread of our own. docs/decisions/sampling.md compares them.
//
// start() runs once, in the main thread, before it is profiled. start_thread() and stop_thread()
// run in the thread that begins or ends, not in a signal handler. All but the handler may
// allocate. stop() may be called by any thread. pause() and resume() belong to the experiments'
// thread, once is_started().
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

  // Chooses the mode. Sets `explanation` when it is not the best one, and why. False when no mode
  // works, or none is wanted (kOff): then nothing is sampled.
  bool start(Sampling wanted, std::string& explanation);
  void stop() noexcept;

  // Has start() come to an end?
  bool is_started() const noexcept { return started_.load(std::memory_order_acquire); }

  // Between pause() and resume() no thread is sampled. False, and nothing happens, where every
  // thread has an event of its own, whose descriptors are the threads'.
  bool can_pause() const noexcept {
    return mode_ == Sampling::kPerfTrap || mode_ == Sampling::kTimer;
  }
  void pause() noexcept;
  void resume() noexcept;
  const SamplingPauses& pauses() const noexcept { return pauses_; }

  // What the interrupt and the signal of a sample cost, measured on the calling thread, one of
  // ours; 0 where that is little or unknown.
  Nanoseconds measure_cost() const noexcept;

  // What pause() needs, for a thread with descriptors of its own; below 0 where it needs none.
  int descriptor() const noexcept { return static_cast<int>(trap_event_); }

  // In perf-trap mode the kernel does this by itself. False, once, when a thread can't be sampled.
  bool start_thread(ThreadState& thread) noexcept;
  // Signal-safe.
  static void stop_thread(ThreadState& thread) noexcept;

  // The signal that carries samples.
  int signal() const noexcept;
  const char* mode_name() const noexcept;
  Sampling mode() const noexcept { return mode_; }
  // perf does; the timer's signals wait for the thread's return from the kernel.
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

// Goes with the signals of our timer, as what sigqueue() would send along.
inline constexpr std::uintptr_t kTickMark = 0x6b636974'7a6f6320;

// Did our timer thread send this signal? What the program sends itself, by raise() or otherwise, is
// told apart from it. Signal-safe.
bool is_tick(const siginfo_t& info) noexcept;

// Which signal carries the samples of a mode.
int sampling_signal(Sampling mode) noexcept;

}  // namespace coz

#endif  // LIBCOZ_SAMPLING_SAMPLE_SOURCE_H
