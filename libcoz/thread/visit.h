// A visit to a progress point by a thread of the program: from a macro, or from a breakpoint
// instruction of ours. Signal-safe.
#ifndef LIBCOZ_THREAD_VISIT_H
#define LIBCOZ_THREAD_VISIT_H

#include "load/arrive.h"
#include "progress/point.h"
#include "thread/session.h"

namespace coz {

// Where load is amplified and the visit is a request's arrival: charges it. `delays` are the
// visiting thread's; nullopt for a thread that is not profiled.
inline void amplify_load(const Point& point, std::optional<ThreadDelays>& delays) noexcept {
  Session* session = Session::active();
  if (session == nullptr || !session->shared.points.is_arrival(point)) return;
  Amplification& amplification = session->shared.amplification;
  ThreadState* thread = Session::current_thread();
  if (delays && thread != nullptr) {
    const Nanoseconds ran = thread_cpu_time(thread->tid.load(std::memory_order_relaxed)) -
                            thread->delay.pause_cost.load(std::memory_order_relaxed);
    arrive(*delays, thread->arrivals, amplification, thread->delay.slot, ran);
  } else if (thread == nullptr) {
    amplification.count_unprofiled();
  }
}

// Kept out of visit(), which would otherwise save registers that only this function needs.
__attribute__((noinline)) inline void take_time(Point& point, std::uint32_t slot) noexcept {
  // A thread that is not profiled is counted, but its time means nothing.
  auto delays = Session::current_delays();
  // First, since an arrival changes the thread's effective time.
  if (point.may_amplify) amplify_load(point, delays);
  if (delays) point.take_time(slot, [&]() noexcept { return delays->effective_now(); });
}

inline void visit(Point& point) noexcept {
  const ThreadState* thread = Session::current_thread();
  const std::uint32_t slot = thread == nullptr ? 0 : thread->delay.slot;
  point.count(slot);
  if (!point.wants_no_time()) take_time(point, slot);
}

// An operation with an identity begins or ends (progress/operations.h), besides the visit of its
// point. `name` is its number. Threads that are not profiled do not count.
inline void begin_operation(std::uint32_t name, std::uint64_t identity) noexcept {
  auto delays = Session::current_delays();
  Session* session = Session::active();
  if (!delays || session == nullptr) return;
  session->shared.operations.begin(name, identity, delays->effective_now());
}

inline void end_operation(std::uint32_t name, std::uint64_t identity) noexcept {
  auto delays = Session::current_delays();
  Session* session = Session::active();
  if (!delays || session == nullptr) return;
  session->shared.operations.end(name, identity, delays->effective_now());
}

}  // namespace coz

#endif  // LIBCOZ_THREAD_VISIT_H
