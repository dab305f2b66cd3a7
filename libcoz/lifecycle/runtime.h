// Builds the parts of the profiler, connects them, and takes them down.
//
// start_once() runs before main and before any other thread. finish() may be called by any thread,
// more than once; the first call ends the profiling, unless --stop-after has ended it in the
// experiments' thread. Neither may be called in a signal handler. In a process that is not profiled
// nothing is built, and every wrapper passes its call on.
#ifndef LIBCOZ_LIFECYCLE_RUNTIME_H
#define LIBCOZ_LIFECYCLE_RUNTIME_H

#include <pthread.h>

#include <atomic>

#include "experiment/experimenter.h"
#include "lifecycle/config.h"
#include "lifecycle/joint_ranks.h"
#include "lifecycle/point_setup.h"
#include "lifecycle/thread_lifecycle.h"
#include "sampling/sample_counts.h"
#include "sampling/sample_source.h"
#include "sampling/sampler.h"
#include "sampling/waits.h"
#include "symbols/module_thread.h"
#include "symbols/modules.h"
#include "thread/session.h"

namespace coz {

class Runtime {
 public:
  // The runtime while it profiles, else nullptr. Signal-safe.
  static Runtime* active() noexcept { return Session::active() == nullptr ? nullptr : runtime_; }

  // In our constructor; or before, where a library's constructor, which runs earlier, visits a mark
  // or creates a thread. Not in a thread: the first to be profiled is the main thread.
  static void start_once() noexcept;
  static void finish();
  // Profiles this process, with points and regions that the program may know already. In the
  // constructor, or in a forked child before the program goes on. `file`: JointRanks'.
  static void start_with(Config config, SharedState& shared, SharedFile file = {});
  // nullptr, after a message, if there is no memory.
  static SharedState* make_shared_state(Sharing sharing = Sharing::kCopied);

  // Whether children that the calling process forks are profiled with it (--tree).
  static bool takes_children() noexcept {
    const Session* session = Session::active();
    return session != nullptr && session->shared.tree.is_on();
  }
  // In such a child, before it goes on: it is profiled from now on. `inherited`: what the thread
  // had served that forked. `kind`: ThreadDelays::begin(). Keeps errno.
  static void join_tree(Nanoseconds inherited, std::uintptr_t kind) noexcept;

  // In a thread that begins.
  ThreadLifecycle& threads() noexcept { return threads_; }

  // In the signal handler: takes a sample of the calling thread, which was interrupted in
  // `context`, if the signal stands for one. Signal-safe.
  static void take_sample(void* context, const SampleSignal& signal) noexcept;

  // In the thread, around a pause or a call that may wait: DelayEnvironment::run_timer.
  static void run_timer(bool runs) noexcept;

  // A call into the kernel that began at `start` returns: a period may have ended in it.
  static void kernel_call_returns(ThreadState& thread, Nanoseconds start, Nanoseconds end) noexcept;
  static void take_missed_ticks(ThreadState& thread) noexcept;
  // The calling thread is about to execute another program, or has failed to: until then, no
  // sample is taken that would reach that program. Signal-safe.
  static void hold_samples(bool holds) noexcept;

  // Where waits are targets: the calling thread begins to wait, perhaps for `lock`, and has waited.
  static Waits::Wait enter_wait(ThreadDelays& delays, WaitClass wait_class, const AwaitedLock* lock,
                                Nanoseconds deadline) noexcept;
  static void leave_wait(ThreadDelays& delays, const Waits::Wait& wait) noexcept;

 private:
  static void start();
  Runtime(Config config, SharedState& shared, SampleCounts& counts, SharedFile file);

  bool begin();
  // In a program that a process of the tree has executed.
  bool begin_executed();
  bool agree_on_targets();
  static void call_at_forks_and_end();
  bool load_modules();
  bool reserve_counts();
  bool start_threads();
  void start_sampling();
  void end();
  void leave_tree() noexcept;
  void end_tree();
  bool has_tree_ended() noexcept;
  Sharing sharing() const noexcept { return config_.tree ? Sharing::kShared : Sharing::kCopied; }
  void join_experiments();
  bool leave_program();
  void detach();
  void watch_modules();
  static void* run_experiments(void* self);
  static void before_fork();
  static void after_fork();
  static void in_forked_child();

  static Runtime* runtime_;
  // The session of the process that forks, for the handler in its child.
  static std::atomic<Session*> forking_;
  // Set from when the experiments' thread ends the profiling by itself until that thread is joined.
  static std::atomic<Runtime*> ended_early_;

  // Each part uses those above it.
  Config config_;
  Session session_;
  Modules modules_;
  ModuleThread module_thread_;
  CallPaths call_paths_;
  Targets targets_;
  SampleCounts& counts_;
  JointRanks joint_;
  Waits waits_;
  SampleSource samples_;
  Sampler sampler_;
  PointSetup point_setup_;
  ProfileWriter log_;
  Experimenter experimenter_;
  ThreadLifecycle threads_;
  pthread_t experiments_thread_{};
  bool is_child_ = false;  // of a tree: another process makes the experiments
};

}  // namespace coz

#endif  // LIBCOZ_LIFECYCLE_RUNTIME_H
