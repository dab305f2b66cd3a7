// Time and pauses. Nanoseconds of CLOCK_MONOTONIC throughout.
//
// Any thread, also in signal handlers; errno is not touched.
#ifndef COMMON_CLOCK_H
#define COMMON_CLOCK_H

#include <cstdint>

namespace coz {

using Nanoseconds = std::int64_t;

inline constexpr Nanoseconds kMicrosecond = 1000;
inline constexpr Nanoseconds kMillisecond = 1000 * kMicrosecond;
inline constexpr Nanoseconds kSecond = 1000 * kMillisecond;

Nanoseconds now() noexcept;

// Nanoseconds since 1970, for people.
Nanoseconds wall_clock() noexcept;

// Processor time used by a thread of this process, or -1 if there is no such thread.
Nanoseconds thread_cpu_time(int tid) noexcept;

// Processor time used by the calling thread.
Nanoseconds own_processor_time() noexcept;

// Processor time used by all threads of this process, ended ones too, but the calling one.
Nanoseconds others_processor_time() noexcept;

// Pauses a thread of the program to an absolute time, through every signal; returns the time on
// waking. The thread's timer slack (50 µs by default) is 1 ns meanwhile: the median overshoot
// falls from about 70 to 20 µs.
Nanoseconds pause_until(Nanoseconds deadline) noexcept;

// The same for a thread that keeps its processor, and so what it has in the caches. It yields now
// and then, and sleeps as soon as another thread has run; under real-time policies from the start.
Nanoseconds pause_busily_until(Nanoseconds deadline) noexcept;

// For threads of our own: their sleeps end on time from here on. They have no slack, and run in the
// shortest turns: otherwise, one that wakes on the core of another thread may wait until that one's
// turn is over (about 3 ms, Linux 6.12 or later; earlier kernels know no turns of a thread's own).
void wake_on_time() noexcept;

}  // namespace coz

#endif  // COMMON_CLOCK_H
