// How long the program's threads waited for a processor during a window, and for each other.
//
// A pause in one thread frees its processor for a thread that waits for one, which a faster line
// would not do: where threads wait, virtual speedups predict too much or too little. What each
// thread did, and whether they wait for each other, tells what a faster line would do.
//
// One thread; allocates.
#ifndef LIBCOZ_EXPERIMENT_CORE_WAITS_H
#define LIBCOZ_EXPERIMENT_CORE_WAITS_H

#include <cstddef>
#include <optional>
#include <set>
#include <vector>

#include "kernel/thread_time.h"
#include "profile_log/records.h"
#include "thread/shared_state.h"

namespace coz {

// Times of the threads at one moment.
struct CoreWaits {
  struct Thread {
    int tid;
    ThreadTime time;
    Nanoseconds thread_wait = 0;  // for other threads of the program
    std::uint64_t target_samples = 0;
    std::uint64_t number = 0;  // ThreadState::number
  };
  // Reading one thread takes 2 to 4 µs; more threads would not change the result much.
  static constexpr std::size_t kMaxThreads = 64;

  std::vector<Thread> threads;
  Nanoseconds processor_time = 0;  // of all threads of the program, also ended ones
};

CoreWaits read_core_waits(SharedState& shared);

// Of a tree: its processes but the first, as far as they have threads now.
std::set<int> other_processes(SharedState& shared);

// The kernel counts waking up as waiting for a processor. An idle one takes so long: it gets an
// interrupt and leaves its sleep, in virtual machines by way of the hypervisor.
inline constexpr Nanoseconds kMaxIdleWakeUp = 50 * kMicrosecond;

// The part of processors' time in which they had nothing to do, 0 to 1: of those that the program
// may use, or, if less, of all `machine_cores`, which were busy for `machine_busy` in sum.
double idle_part(Nanoseconds processor_time, std::size_t cores, Nanoseconds machine_busy,
                 std::size_t machine_cores, Nanoseconds duration);

// The time that threads waited in between, without what idle processors needed to wake up (`idle`:
// idle_part()). Threads that began in between count from their beginning. Those that ended, or were
// not read, count as if they had waited like the others, in proportion to processor time; nullopt
// if those that were read had less than a tenth of it.
std::optional<Nanoseconds> core_wait_between(const CoreWaits& from, const CoreWaits& to,
                                             double idle);

// nullopt if threads that were not read, or that ended, had a tenth of the processor time or more.
// idle: as above.
std::optional<ThreadUse> thread_use_between(const CoreWaits& from, const CoreWaits& to,
                                            double idle);

}  // namespace coz

#endif  // LIBCOZ_EXPERIMENT_CORE_WAITS_H
