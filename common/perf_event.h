// Samples of processor time from the kernel, by perf's software task clock; visits to an
// instruction, by hardware breakpoints.
//
// Not for signal handlers. Results are descriptors, or -errno.
#ifndef COMMON_PERF_EVENT_H
#define COMMON_PERF_EVENT_H

#include <cstdint>

#include "common/clock.h"

namespace coz {

// One event for the calling thread and all threads created after it: each period of a thread's
// time in user mode raises SIGTRAP in it (Linux 5.19 and later). No ring, one descriptor for the
// process; ends with exec. The cheaper of the two modes.
long open_trap_event(Nanoseconds period) noexcept;

// The same for the calling thread alone, and not counting yet.
long open_own_trap_event(Nanoseconds period) noexcept;

// Lets an event, and those that threads have inherited from it, count or not.
void set_event_counting(long descriptor, bool counts) noexcept;

// An event for the calling thread alone, which raises `signal` in it.
long open_signal_event(Nanoseconds period, int signal, int tid) noexcept;

// Counts how often the calling thread, and all threads created after it, reach the instruction at
// `address`, by one of the processor's debug registers, of which there are four. No signal; one
// descriptor for the process; ends with exec.
long open_breakpoint_event(std::uintptr_t address) noexcept;

// Closes it, unless the program has done that, and perhaps opened a file of its own in its place.
void close_event(long descriptor) noexcept;

// Is a kernel release, as uname gives it ("6.1.0-44-amd64"), this one or later?
bool is_at_least(const char* release, long major, long minor) noexcept;

}  // namespace coz

#endif  // COMMON_PERF_EVENT_H
