// The second half of visits by a jump: all registers are saved around it.
#include "interpose/jump_visit.h"
#include "patch/breakpoints.h"
#include "thread/visit.h"

namespace coz {

void time_jump_visit(const void* site) noexcept {
  const ThreadState* thread = Session::current_thread();
  const std::uint32_t slot = thread == nullptr ? 0 : thread->delay.slot;
  Breakpoints::for_each_at(site, [&](Point& point) noexcept {
    if (!point.wants_no_time()) take_time(point, slot);
  });
}

}  // namespace coz
