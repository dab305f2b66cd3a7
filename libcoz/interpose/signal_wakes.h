// Which signal of another thread of the program ended a wait for something outside.
#ifndef LIBCOZ_INTERPOSE_SIGNAL_WAKES_H
#define LIBCOZ_INTERPOSE_SIGNAL_WAKES_H

#include <cstdint>

#include "delay/thread_delays.h"

namespace coz {

// The object that the sender released, or kNoObject. A wait that was interrupted (EINTR) ended by a
// handler; another one, if it may read (`may_read`), by a signal that the thread blocks, and reads
// from a signalfd. Call it in the thread that waited, before its wait is accounted for. Keeps
// errno.
[[nodiscard]] std::uintptr_t signal_that_ended(const ThreadDelays& delays, bool interrupted,
                                               bool may_read) noexcept;

}  // namespace coz

#endif  // LIBCOZ_INTERPOSE_SIGNAL_WAKES_H
