// What every visit by a jump does. Compiled for general registers only (Makefile): nothing else is
// saved around it. The second half of a visit is in visit.h, with those of marks.
#include "interpose/jump_visit.h"

#include "patch/breakpoints.h"
#include "thread/session.h"

namespace coz {

bool count_jump_visit(const void* site) noexcept {
  const ThreadState* thread = Session::current_thread();
  const std::uint32_t slot = thread == nullptr ? 0 : thread->delay.slot;
  bool wants_time = false;
  Breakpoints::for_each_at(site, [&](Point& point) noexcept {
    point.count(slot);
    if (!point.wants_no_time()) wants_time = true;
  });
  return wants_time;
}

}  // namespace coz
