// The second half of visits by a jump: all registers are saved around it.
#include "interpose/jump_visit.h"
#include "interpose/visit.h"

namespace coz {

void time_jump_visit(const void* site) noexcept {
  const ThreadState* thread = Runtime::current_thread();
  const std::uint32_t slot = thread == nullptr ? 0 : thread->slot;
  Breakpoints::for_each_at(site, [&](Point& point) noexcept {
    if (!point.wants_no_time()) take_time(point, slot);
  });
}

}  // namespace coz
