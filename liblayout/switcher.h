// A thread that selects another layout at intervals, at random.
//
// libc does not know it (process.h), but the kernel does: what wants a process of one thread fails
// (unshare of a user namespace), and the thread keeps its rights when the program gives up its own.
// Where the program's filter of system calls forbids it to sleep, it ends. A child that the program
// forks has no such thread, and keeps the layout of that moment.
#ifndef LIBLAYOUT_SWITCHER_H
#define LIBLAYOUT_SWITCHER_H

#include <cstdint>

#include "liblayout/placement.h"
#include "liblayout/switching.h"

namespace coz::layout {

// Once in a process. The first layout is selected; what `layouts` refers to has to stay. interval:
// in ns. Returns false if the kernel refuses.
[[nodiscard]] bool start_switcher(const Layouts& layouts, Random random,
                                  std::uint64_t interval) noexcept;

}  // namespace coz::layout

#endif  // LIBLAYOUT_SWITCHER_H
