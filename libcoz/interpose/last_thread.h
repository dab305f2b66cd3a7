// Ends the process when the last thread of the program has ended, as libc does where main has left
// by pthread_exit: for libc our threads are threads too, and it would wait for ever.
#ifndef LIBCOZ_INTERPOSE_LAST_THREAD_H
#define LIBCOZ_INTERPOSE_LAST_THREAD_H

namespace coz {

// To be called once, by the main thread as it leaves while others may go on: calls exit(0) in a
// thread of ours when the last of these has ended. False where no thread can be started for that.
// Not for signal handlers: allocates.
bool exit_after_the_last() noexcept;

}  // namespace coz

#endif  // LIBCOZ_INTERPOSE_LAST_THREAD_H
