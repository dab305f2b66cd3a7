// Registers the program's threads as they begin, and releases them as they end.
//
// prepare() runs once, at the start; begin() in each thread that begins. The end of a thread is
// noticed by a destructor of thread-specific data, whether the thread returned, called pthread_exit
// or was cancelled.
#ifndef LIBCOZ_LIFECYCLE_THREAD_LIFECYCLE_H
#define LIBCOZ_LIFECYCLE_THREAD_LIFECYCLE_H

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "sampling/sample_source.h"
#include "thread/session.h"

namespace coz {

class ThreadLifecycle {
 public:
  using Age = SampleSource::Age;

  ThreadLifecycle(Session& session, SampleSource& samples) noexcept
      : session_(session), samples_(samples) {}

  // Returns an error number.
  int prepare() noexcept { return pthread_key_create(&end_key_, end); }

  // The calling thread has begun long ago.
  void begin_first() noexcept;
  // The calling thread is about to create another.
  void before_creating(ThreadState& parent) noexcept { samples_.before_creating(parent); }
  // A process of a tree ends in the calling thread, and others may wait for that. When nothing is
  // profiled here any more.
  void end_with_process(ThreadState& thread) noexcept;
  // In a forked child of a tree: the slot of the thread that forked stays that one's.
  void forget_parent() const noexcept { pthread_setspecific(end_key_, nullptr); }
  // `inherited`: the delays that the parent thread had served; in a forked child of a tree, where
  // the first thread is kForked, the thread that forked. `kind`: ThreadDelays::begin().
  void begin(Nanoseconds inherited, std::uintptr_t kind, Age age = Age::kNew) noexcept;

 private:
  ThreadState* claim_slot() noexcept;
  static void count_end(Session& session, ThreadState& thread) noexcept;
  void begin(ThreadState& thread, Age age) noexcept;
  static void end(void* thread);

  Session& session_;
  SampleSource& samples_;
  pthread_key_t end_key_{};
  std::atomic<bool> warned_unsampled_{false};
};

}  // namespace coz

#endif  // LIBCOZ_LIFECYCLE_THREAD_LIFECYCLE_H
