#include "lifecycle/thread_lifecycle.h"

#include <signal.h>
#include <string.h>

#include "common/raw_syscall.h"
#include "kernel/message.h"
#include "lifecycle/last_thread.h"
#include "signals/program_signals.h"

namespace coz {
namespace {

int current_tid() { return static_cast<int>(raw_syscall(SYS_gettid)); }

}  // namespace

void ThreadLifecycle::begin_first() noexcept {
  ThreadState* thread = claim_slot();
  if (thread == nullptr) return;
  thread->delay.clock.start_at(session_.delays.global.get());
  begin(*thread, Age::kOld);
}

void ThreadLifecycle::begin(Nanoseconds inherited, std::uintptr_t kind, Age age) noexcept {
  ThreadState* thread = claim_slot();
  if (thread == nullptr) return;
  ThreadDelays(thread->delay, session_.delays).begin(inherited, kind);
  begin(*thread, age);
}

// The kernel tells the parent by SIGCHLD, and whoever reads a pipe that only this process wrote to.
void ThreadLifecycle::end_with_process(ThreadState& thread) noexcept {
  ThreadDelays delays(thread.delay, session_.delays);
  thread.delay.blocked.store(false, std::memory_order_relaxed);
  thread.delay.in_marked_wait.store(false, std::memory_order_relaxed);
  delays.before_ending(Session::object_of_process(Session::own_process()));
  const int parent = static_cast<int>(raw_syscall(SYS_getppid));
  for (const std::uintptr_t object :
       {Session::object_of_any_end(), Session::object_of_signal(Session::kAnySignal, parent),
        Session::object_of_signal(SIGCHLD, parent)}) {
    delays.record(object, ReleaseTime::kNoted);
  }
  Session::set_thread(nullptr);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  SampleSource::end_thread(thread);
  count_end(session_, thread);
  session_.shared.threads.release(thread);
}

ThreadState* ThreadLifecycle::claim_slot() noexcept {
  const int process = Session::own_process();
  const bool is_first = process == session_.shared.tree.first() || !session_.shared.tree.is_on();
  ThreadState* thread =
      session_.shared.threads.claim(current_tid(), is_first ? ThreadState::kFirstProcess : process,
                                    reinterpret_cast<std::uintptr_t>(Session::own_process_mark()));
  if (thread == nullptr && !warned_unsampled_.exchange(true)) {
    message("more than %u threads at once: the further ones run unprofiled",
            ThreadRegistry::kSlots);
  }
  return thread;
}

void ThreadLifecycle::begin(ThreadState& thread, Age age) noexcept {
  thread.began = now();
  thread.arrivals.start_at(thread.began - thread.delay.clock.local());
  pthread_setspecific(end_key_, &thread);
  Session::set_thread(&thread);
  program_signals.begin_thread();
  if (!samples_.start_thread(thread, age) && !warned_unsampled_.exchange(true)) {
    message(
        "no perf event for a further thread (%s): threads like it take no samples. Raise the "
        "limit with: ulimit -n 65536",
        strerror(-thread.event));
  }
}

void ThreadLifecycle::count_end(Session& session, ThreadState& thread) noexcept {
  thread.ticks.end();
  session.shared.lives.ended(now() - thread.began, [] { return thread_cpu_time(current_tid()); });
}

void ThreadLifecycle::end(void* state) {
  auto* thread = static_cast<ThreadState*>(state);
  // In a forked child, the slot is its parent's, or empty.
  if (thread->tid.load(std::memory_order_relaxed) != current_tid()) return;
  Session* session = Session::active();
  if (session != nullptr && thread == Session::registered_thread()) {
    ThreadDelays delays(thread->delay, session->delays);
    thread->delay.blocked.store(false, std::memory_order_relaxed);
    thread->delay.in_marked_wait.store(false, std::memory_order_relaxed);
    delays.before_ending(pthread_self() ^ Session::object_salt());
  }
  Session::set_thread(nullptr);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  SampleSource::end_thread(*thread);
  if (session == nullptr) return;
  count_end(*session, *thread);
  if (current_tid() == Session::own_process() && !exit_after_the_last()) {
    message("the main thread has left, and no thread could be started that sees the last one end");
  }
  session->shared.threads.release(*thread);
}

}  // namespace coz
