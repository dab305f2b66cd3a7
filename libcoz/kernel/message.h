// A line for the user, on standard error: "coz: " and the text.
//
// One write, so that it does not mix with the program's output. Any thread, not in a signal
// handler. Each message says what happened, what follows, and what to do.
#ifndef LIBCOZ_KERNEL_MESSAGE_H
#define LIBCOZ_KERNEL_MESSAGE_H

namespace coz {

void message(const char* format, ...) noexcept __attribute__((format(printf, 1, 2)));

}  // namespace coz

#endif  // LIBCOZ_KERNEL_MESSAGE_H
