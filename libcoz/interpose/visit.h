// A visit to a progress point, by a thread of the program: from a mark, or from a breakpoint
// instruction of ours. (Jumps of ours do the first half themselves: jump_visit.h.) Signal-safe.
#ifndef LIBCOZ_INTERPOSE_VISIT_H
#define LIBCOZ_INTERPOSE_VISIT_H

#include "lifecycle/runtime.h"

namespace coz {

// Out of the way of visit(), which would otherwise save registers that only this needs.
__attribute__((noinline)) inline void take_time(Point& point, std::uint32_t slot) noexcept {
  // A thread that is not profiled is counted, but its time means nothing.
  auto delays = Runtime::current_delays();
  // First: the request came as much earlier as its thread is sped up.
  if (point.may_amplify) Runtime::arrive(point, delays);
  if (delays) point.take_time(slot, [&]() noexcept { return delays->effective_now(); });
}

inline void visit(Point& point) noexcept {
  const ThreadState* thread = Runtime::current_thread();
  const std::uint32_t slot = thread == nullptr ? 0 : thread->slot;
  point.count(slot);
  if (!point.wants_no_time()) take_time(point, slot);
}

}  // namespace coz

#endif  // LIBCOZ_INTERPOSE_VISIT_H
