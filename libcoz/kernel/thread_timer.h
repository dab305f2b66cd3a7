// A timer that sends the calling thread a signal, once, at a time of the wall clock. (libc's
// timer_create allocates, and these are set in signal handlers.)
//
// Signal-safe; errno is not touched.
#ifndef LIBCOZ_KERNEL_THREAD_TIMER_H
#define LIBCOZ_KERNEL_THREAD_TIMER_H

#include <cstdint>

#include "common/clock.h"

namespace coz {

// The timer's signals carry `mark`, with the code SI_TIMER. Returns its number, or -errno. It ends
// with the process, not with the thread; a forked child does not have it.
int create_thread_timer(int signal, std::uintptr_t mark) noexcept;
void set_thread_timer(int timer, Nanoseconds from_now) noexcept;  // 0: stops it
void delete_thread_timer(int timer) noexcept;

}  // namespace coz

#endif  // LIBCOZ_KERNEL_THREAD_TIMER_H
