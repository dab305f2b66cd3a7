// Waits of OpenMP's threads, in which they may run tasks: what the wrappers of GCC's library
// (openmp.cpp, openmp_tasks.cpp) and the callbacks of LLVM's (openmp_tool.cpp) have in common.
//
// A thread that waits spins, or sleeps in ways of its library's own; samples meanwhile are in no
// target. A task that it runs interrupts the wait. Which task a thread waits for is not known: the
// last one that ended stands for it, and likewise the last one created for the one that it runs.
//
// Only the thread itself calls these, outside of signal handlers.
#ifndef LIBCOZ_INTERPOSE_OPENMP_WAITS_H
#define LIBCOZ_INTERPOSE_OPENMP_WAITS_H

#include <cstdint>

#include "delay/thread_delays.h"

namespace coz::openmp {

// An object of this process that threads wait for; an even number.
std::uintptr_t object(std::uintptr_t number) noexcept;

// The thread has come to a meeting (a barrier, the end of a region), and waits for the others.
void arrive_at(ThreadDelays& delays, std::uintptr_t meeting) noexcept;
// It waits until tasks have ended.
void await_tasks(ThreadDelays& delays) noexcept;
// It waits no longer.
void end_wait(ThreadDelays& delays) noexcept;
// It has waited for its share of a region, which another thread began by releasing `begun`.
void begin_share(ThreadDelays& delays, std::uintptr_t begun) noexcept;

void before_creating_tasks(ThreadDelays& delays) noexcept;
// The thread runs a task, whose code is at `site`. Returns the object of the wait that the task
// interrupts, 0 if it interrupts none; end_task() goes on with it.
std::uintptr_t begin_task(std::uintptr_t site) noexcept;
void end_task(std::uintptr_t interrupted) noexcept;

}  // namespace coz::openmp

#endif  // LIBCOZ_INTERPOSE_OPENMP_WAITS_H
