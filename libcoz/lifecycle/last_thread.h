// Ends the process when the last thread of the program has ended, as libc does where main left by
// pthread_exit. libc counts our threads, too, and would wait for ever.
#ifndef LIBCOZ_LIFECYCLE_LAST_THREAD_H
#define LIBCOZ_LIFECYCLE_LAST_THREAD_H

namespace coz {

// Called once, by the main thread as it leaves: calls exit(0) in a thread of ours when the
// program's last thread has ended. False if no thread could be started for that. Allocates; not in
// signal handlers.
bool exit_after_the_last() noexcept;

}  // namespace coz

#endif  // LIBCOZ_LIFECYCLE_LAST_THREAD_H
