// The profiling of this process while it lasts, for code that runs in threads of the program:
// wrappers, macros and the sample handler.
//
// The runtime (lifecycle/runtime.h) opens and closes the session. In children with memory of their
// own there is none, from their first instruction on. All functions are signal-safe.
#ifndef LIBCOZ_THREAD_SESSION_H
#define LIBCOZ_THREAD_SESSION_H

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <optional>

#include "common/raw_syscall.h"
#include "delay/thread_delays.h"
#include "kernel/own_page.h"
#include "thread/event_files.h"
#include "thread/shared_state.h"
#include "unwind/stack_walk.h"

namespace coz {

class Session {
 public:
  struct Options {
    bool waits = false;            // they are targets
    bool holds_up_outside = true;  // what serves requests in turn; not where load is amplified
    bool pauses_busily = false;    // until another thread wants the processor
  };

  // Where several targets may be selected, reserve `mixes` before the first sample. `run_timer`:
  // DelayEnvironment's.
  Session(SharedState& state, Nanoseconds period, Options options,
          void (*run_timer)(bool) noexcept = nullptr) noexcept
      : shared(state),
        delays{state.global_delay,
               state.wakers,
               state.pending,
               state.young,
               state.selection,
               period,
               now,
               options.pauses_busily ? pause_busily_until : pause_until,
               kMaxSavedPeriods * period,
               own_processor_time,
               &mixes,
               options.waits ? &state.waits : nullptr,
               options.waits ? &state.lock_holds : nullptr,
               options.holds_up_outside ? &state.outside : nullptr,
               run_timer,
               is_in_signal_handler,
               options.pauses_busily,
               has_ended} {}

  SharedState& shared;
  ChargeMixes mixes;
  EventFiles event_files;
  const DelayEnvironment delays;

  // nullptr: nothing is profiled, or no longer.
  static Session* active() noexcept { return active_.value.load(std::memory_order_acquire); }

  // For waits that began while there was a session: is it over?
  static bool has_ended() noexcept { return active() == nullptr; }

  // The calling thread's state; nullptr when it is not profiled.
  static ThreadState* current_thread() noexcept { return active() == nullptr ? nullptr : thread_; }

  // The calling thread's delays, for wrappers and macros.
  // Inlined into the exported function, since the address to which that returns identifies the code
  // segment that follows. (Parts of exported functions are inlined too: COZ_WRAPPER_PART.)
  [[gnu::always_inline]] static std::optional<ThreadDelays> current_delays() noexcept {
    ThreadState* thread = thread_;
    if (thread == nullptr) return std::nullopt;
    const Session* session = active();
    if (session == nullptr) return std::nullopt;
    return ThreadDelays(thread->delay, session->delays,
                        reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)));
  }

  // False in a child made by vfork: it shares our memory, but has signals and an end of its own.
  static bool is_in_own_process() noexcept { return raw_syscall(SYS_getpid) == process_; }

  // Distinguishes objects of this process from those of another of the tree that have the same
  // address; 0 without --tree.
  static std::uintptr_t object_salt() noexcept {
    return object_salt_.load(std::memory_order_relaxed);
  }

  // Are processes that share objects with this one profiled with it?
  static bool knows_all() noexcept { return knows_all_.load(std::memory_order_relaxed); }

  // True where waits are targets.
  static bool follows_waits() noexcept {
    const Session* session = active();
    return session != nullptr && session->delays.waits != nullptr;
  }

  // What threads wait for that wait for the end of a process of the tree.
  static std::uintptr_t object_of_process(int process) noexcept {
    constexpr std::uintptr_t kOdd = 0x94d049bb133111ebU;
    return made_name(static_cast<std::uintptr_t>(process) * kOdd);
  }
  // Released whenever one ends: its ends of pipes are closed then, too.
  static std::uintptr_t object_of_any_end() noexcept { return object_of_process(-1); }
  // What is released by a signal; kAnySignal is released with each. `process`: who gets it;
  // kAnyProcess for a group, and without --tree. No object lives at an address with the highest
  // bit.
  static constexpr int kAnySignal = 0;
  static constexpr int kAnyProcess = 0;
  static std::uintptr_t object_of_signal(int signal, int process) noexcept {
    constexpr std::uintptr_t kHighest = std::uintptr_t{1} << 63;
    return kHighest | static_cast<std::uintptr_t>(process) << 9 |
           static_cast<std::uintptr_t>(signal) << 1;
  }

  // The rest is for lifecycle/.

  static void open(Session& session) noexcept {
    active_.value.store(&session, std::memory_order_release);
  }
  // Returns the session to the first caller, who ends it; nullptr to all others.
  static Session* close() noexcept {
    return active_.value.exchange(nullptr, std::memory_order_acq_rel);
  }
  // From now on is_in_own_process() is true in the calling process. Called at the start, and in a
  // forked child.
  static void set_own_process() noexcept { process_ = static_cast<int>(raw_syscall(SYS_getpid)); }
  static int own_process() noexcept { return process_; }
  // Where own_process() is kept, for holds_own_number().
  static const void* own_process_mark() noexcept { return &process_; }
  // This process is one of a tree, and the calling one: after set_own_process().
  static void set_object_salt() noexcept {
    constexpr std::uintptr_t kOdd = 0xd6e8feb86659fd93U;
    object_salt_ = made_name(static_cast<std::uintptr_t>(process_) * kOdd);
    knows_all_ = true;
  }
  // The ranks of a job are profiled together.
  static void set_joint() noexcept { knows_all_ = true; }
  static void keep_from_children() noexcept { coz::keep_from_children(&active_, sizeof active_); }

  // The state of the calling thread, also after the session's end.
  static ThreadState* registered_thread() noexcept { return thread_; }
  static void set_thread(ThreadState* thread) noexcept { thread_ = thread; }

 private:
  static inline constinit OwnPage<std::atomic<Session*>> active_;
  static inline std::atomic<int> process_{0};
  static inline std::atomic<std::uintptr_t> object_salt_{0};
  static inline std::atomic<bool> knows_all_{false};
  static inline thread_local constinit ThreadState* thread_
      __attribute__((tls_model("initial-exec"))) = nullptr;
};

}  // namespace coz

#endif  // LIBCOZ_THREAD_SESSION_H
