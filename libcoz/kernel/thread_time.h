// How long threads ran, and how long they were runnable but waited for a processor, from the
// kernel's /proc/PID/task/TID/schedstat. And a table of descriptors for a thread of ours.
//
// Not for signal handlers. Nothing allocates; errno is not touched.
#ifndef LIBCOZ_KERNEL_THREAD_TIME_H
#define LIBCOZ_KERNEL_THREAD_TIME_H

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "common/clock.h"

namespace coz {

struct ThreadTime {
  Nanoseconds ran = 0;
  Nanoseconds waited = 0;   // runnable, but without a processor
  std::int64_t slices = 0;  // how often it got a processor
};

// "RAN WAITED SLICES"; nullopt for anything else. Kernels that do not count these give zeros.
std::optional<ThreadTime> parse_schedstat(std::string_view text) noexcept;

// nullopt when the thread has ended, or the kernel has no such file. `process`: the thread's, if it
// is not this one.
std::optional<ThreadTime> read_thread_time(int tid, int process = 0) noexcept;

// Does a thread of this process run, or wait for nothing but a processor?
bool is_runnable(int tid) noexcept;

// Gives the calling thread a table of descriptors of its own, in which only those in `kept` are
// open; sorts `kept`. False if the kernel cannot (before 5.9) or must not. The program, which may
// count on the next number or close all descriptors, does not see what the thread opens from here
// on; nor does the thread see what the program opens.
bool hide_descriptors(std::span<int> kept) noexcept;

}  // namespace coz

#endif  // LIBCOZ_KERNEL_THREAD_TIME_H
