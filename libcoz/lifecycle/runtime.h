// Builds the parts, joins them, and takes them down: the only global of the library.
//
// start() runs in the library's constructor, before main and before any thread of the program.
// finish() may be called by any thread, more than once; the first call ends the profiling, unless
// --stop-after has done so in the experiments' thread. Neither may be called in a signal handler.
// In a process that is not to be profiled nothing is built and every wrapper passes its call on.
#ifndef LIBCOZ_LIFECYCLE_RUNTIME_H
#define LIBCOZ_LIFECYCLE_RUNTIME_H

#include <pthread.h>

#include <atomic>
#include <optional>

#include "delay/thread_delays.h"
#include "experiment/experimenter.h"
#include "kernel/own_page.h"
#include "lifecycle/config.h"
#include "patch/breakpoints.h"
#include "progress/placed_points.h"
#include "progress/point_counters.h"
#include "sampling/histogram.h"
#include "sampling/sample_source.h"
#include "sampling/sampler.h"
#include "signals/signal_bits.h"
#include "symbols/module_thread.h"
#include "symbols/modules.h"
#include "thread/shared_state.h"

namespace coz {

class Runtime {
 public:
  // The runtime while it profiles, else nullptr; so also in children with memory of their own, from
  // the first instruction on. Signal-safe.
  static Runtime* active() noexcept { return active_.value.load(std::memory_order_acquire); }

  // False in a child made by vfork, which has our memory, but signals and an end of its own; true
  // in one made by fork. Signal-safe.
  static bool is_in_own_process() noexcept;

  static void start();
  static void finish();

  // In a child that the program has forked, before it goes on: it may be the one to be profiled.
  // Keeps errno.
  static void forked() noexcept;

  // Where marks find their points and regions; nullptr when nothing is or will be profiled here.
  static SharedState* registries() noexcept;

  // In the sample handler, where active() is nullptr: no more samples for this thread.
  static void end_samples_of_thread() noexcept;

  // The calling thread's state, or nullptr when it is not profiled. Signal-safe.
  static ThreadState* current_thread() noexcept {
    return active() == nullptr ? nullptr : thread_state_;
  }
  // Its delays, for wrappers and marks; nullopt also inside the sample handler. The site of the
  // call is where the function returns to that this is inlined into: an exported one, or a part of
  // one that is inlined, too (COZ_WRAPPER_PART).
  [[gnu::always_inline]] static std::optional<ThreadDelays> current_delays() noexcept {
    ThreadState* thread = thread_state_;
    if (thread == nullptr) return std::nullopt;
    Runtime* runtime = active();
    if (runtime == nullptr || thread->in_handler.load(std::memory_order_relaxed)) {
      return std::nullopt;
    }
    return ThreadDelays(*thread, runtime->delay_environment_,
                        reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)));
  }

  // A visit of `point`, by the thread of `delays`; nullopt: by one that is not profiled.
  static void arrive(const Point& point, std::optional<ThreadDelays>& delays) noexcept;

  // A call into the kernel, begun at `start`, returns: a period may have ended in it.
  static void kernel_call_returns(ThreadState& thread, Nanoseconds start, Nanoseconds end) noexcept;

  // In the thread that begins, with the delays its parent had served, and what that blocked of
  // signals that are ours (signals/withheld_signals.h).
  void thread_begins(Nanoseconds inherited, SignalBits blocked) noexcept;

  Sampler& sampler() noexcept { return sampler_; }
  SharedState& shared() noexcept { return shared_; }
  const SampleSource& samples() const noexcept { return samples_; }
  const DelayEnvironment& delay_environment() const noexcept { return delay_environment_; }

 private:
  // A child is to be profiled: until there is one, there are registries, and nothing else.
  struct Waiting {
    Forked forked;
    SharedState& shared;
  };

  Runtime(Config config, SharedState& shared);

  static SharedState* make_shared_state();
  static void start_with(Config config, SharedState& shared);
  static void wait_for_fork(Forked forked);
  bool begin();
  void end();
  void join_experiments();
  bool leave_program();
  void detach();
  bool reserve_memory();
  void watch_modules();
  RunRecord describe_run() const;
  void prepare_points();
  bool prepare_point(const PlacedPoint& placed, CountedBy& by);
  void prepare_breakpoints();
  void arm_breakpoints();
  void lose_breakpoint(const Breakpoints::Refusal& refusal);
  void set_counted_by(const char* name, const char* by);
  static void* run_experiments(void* self);
  static void thread_ends(void* self);
  static void before_fork();
  static void after_fork();
  static void in_forked_child();

  static constinit OwnPage<std::atomic<Runtime*>> active_;
  // active(), as the last fork() begins: for the handler in its child.
  static std::atomic<Runtime*> forking_;
  // While or after the experiments' thread ends the profiling by itself, until it is joined.
  static std::atomic<Runtime*> ended_early_;
  // Set at the start, and nullptr again in each child that has become the one or not.
  static Waiting* waiting_;
  static thread_local constinit ThreadState* thread_state_
      __attribute__((tls_model("initial-exec")));

  Config config_;
  SharedState& shared_;
  DelayEnvironment delay_environment_;
  Modules modules_;
  ModuleThread module_thread_;
  CallPaths call_paths_;
  Targets targets_;
  Histogram histogram_;
  SpeedProbe speed_probe_;
  HandlerTime handler_time_;
  ProfileWriter log_;
  SampleSource samples_;
  Sampler sampler_;
  PointCounters counters_;
  Breakpoints breakpoints_;
  std::vector<Breakpoints::Wanted> wanted_breakpoints_;
  std::vector<PointRecord> placed_points_;
  Experimenter experimenter_;
  pthread_t experiments_thread_{};
  pthread_key_t thread_end_key_{};
  std::atomic<bool> warned_unsampled_{false};
  static std::atomic<int> process_;
};

}  // namespace coz

#endif  // LIBCOZ_LIFECYCLE_RUNTIME_H
