// Whether threads and processes that share memory with this one are still there.
//
// Any thread; is_missing() also in signal handlers. Nothing allocates; errno is not touched.
#ifndef LIBCOZ_KERNEL_PROCESS_STATE_H
#define LIBCOZ_KERNEL_PROCESS_STATE_H

#include "common/clock.h"

namespace coz {

// True if no process has this number. One that has ended has it until its parent has waited. With
// `thread`: true if the process has no such thread, for example after it has executed a program.
bool is_missing(int process, int thread = 0) noexcept;

// True if the calling process has more than one thread.
bool has_other_threads() noexcept;

// True if the thread has ended, also if its process has and nobody has waited for that.
bool has_ended(int tid) noexcept;

// True if the process holds its own number at `mark`, an address in this process's memory that
// forked children inherit. False if it has ended, or has executed another program. Where its memory
// cannot be read, true until it has ended.
bool holds_own_number(int process, const void* mark) noexcept;

// Processor time used by all threads of a process, ended ones too; 0 if there is no such process.
Nanoseconds processor_time_of(int process) noexcept;

// Used by the children of this process, and theirs, that have ended and been waited for.
Nanoseconds processor_time_of_children() noexcept;

}  // namespace coz

#endif  // LIBCOZ_KERNEL_PROCESS_STATE_H
