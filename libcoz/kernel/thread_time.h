// How long threads ran, and how long they could have run but waited for a processor: the kernel's
// /proc/PID/task/TID/schedstat.
//
// Not for signal handlers. Nothing allocates; errno is not touched.
#ifndef LIBCOZ_KERNEL_THREAD_TIME_H
#define LIBCOZ_KERNEL_THREAD_TIME_H

#include <optional>
#include <span>

#include "common/clock.h"

namespace coz {

struct ThreadTime {
  Nanoseconds ran = 0;
  Nanoseconds waited = 0;  // runnable, but without a processor
};

// "RAN WAITED SLICES"; nullopt for anything else. A kernel that does not count gives zeros.
std::optional<ThreadTime> parse_schedstat(const char* text) noexcept;

// nullopt when the thread has ended, or the kernel has no such file.
std::optional<ThreadTime> read_thread_time(int tid) noexcept;

// Gives the calling thread a table of descriptors of its own, in which only those
// `kept` are open (which it sorts); false where the kernel can't (before 5.9) or may not.
// Descriptors that the thread opens from here on are not seen by the program, which may count on
// the next one's number or close them all. What the program opens later is not seen by the thread.
bool hide_descriptors(std::span<int> kept) noexcept;

}  // namespace coz

#endif  // LIBCOZ_KERNEL_THREAD_TIME_H
