// libc's sigaction(), which program_signals.cpp calls by kernel/real.h: the unit tests stand in for
// nothing, so that it is the one that they are linked with.
#include <signal.h>

#include "kernel/real.h"

namespace coz::real {

std::atomic<void*> addresses[kFunctions];

void* look_up(Function function) noexcept {
  return function == k_sigaction ? reinterpret_cast<void*>(&::sigaction) : nullptr;
}

}  // namespace coz::real
