// Samples of processor time from the kernel, by perf's software task clock; visits to an
// instruction, by hardware breakpoints.
//
// Not for signal handlers. Results are descriptors, or -errno.
#ifndef COMMON_PERF_EVENT_H
#define COMMON_PERF_EVENT_H

#include <cstdint>

#include "common/clock.h"

namespace coz {

// Whether a period that ends in the kernel raises a signal, too, as the thread returns to user
// mode; one for all that end before that. Needs Linux 6.15, and kernel.perf_event_paranoid of 1 or
// less, or CAP_PERFMON.
enum class KernelMode { kExcluded, kIncluded };

// One event for the calling thread and all threads created after it: each period of a thread's
// processor time raises SIGTRAP in it (Linux 5.19 and later). No ring, one descriptor for the
// process; ends with exec. The cheaper of the two modes.
long open_trap_event(Nanoseconds period, KernelMode kernel) noexcept;

// The same for the calling thread alone, whose signals carry kOwnEventMark. `counts`: it begins at
// once.
long open_own_trap_event(Nanoseconds period, KernelMode kernel, bool counts) noexcept;
inline constexpr std::uint64_t kOwnEventMark = 0x6b636974;

// An event of the calling thread that counts nothing and that its children do not inherit: while
// there is one, they do not count as clones of the thread. Where the kernel switches from a thread
// to its clone, or to another clone of the same thread, it exchanges their events instead of
// stopping and starting them. A short thread would end with what its creator's period had come to,
// so that neither is sampled.
long open_separator_event() noexcept;

// Lets an event, and those that threads have inherited from it, count or not.
void set_event_counting(long descriptor, bool counts) noexcept;

// An event for the calling thread alone, which raises `signal` in it.
long open_signal_event(Nanoseconds period, int signal, int tid) noexcept;

// Counts how often the calling thread, and all threads created after it, reach the instruction at
// `address`, by one of the processor's debug registers, of which there are four. No signal; one
// descriptor for the process; ends with exec. `in_children`: also processes that it forks.
long open_breakpoint_event(std::uintptr_t address, bool in_children = false) noexcept;

// Another period for an event of the calling thread alone, from now on. Signal-safe.
void set_event_period(long descriptor, Nanoseconds period) noexcept;

// Closes it, unless the program has done that, and perhaps opened a file of its own in its place.
void close_event(long descriptor) noexcept;

// Is a kernel release, as uname gives it ("6.1.0-44-amd64"), this one or later?
bool is_at_least(const char* release, long major, long minor) noexcept;

}  // namespace coz

#endif  // COMMON_PERF_EVENT_H
