// How long the program's threads waited for a processor during a window.
//
// A pause in one thread lends its processor to a thread that waits for one, which no faster line
// would do: where threads wait, virtual speedups predict too much or too little.
//
// One thread; allocates.
#ifndef LIBCOZ_EXPERIMENT_CORE_WAITS_H
#define LIBCOZ_EXPERIMENT_CORE_WAITS_H

#include <optional>
#include <vector>

#include "kernel/thread_time.h"
#include "thread/thread_registry.h"

namespace coz {

// What threads had come to at one moment.
struct CoreWaits {
  struct Thread {
    int tid;
    ThreadTime time;
  };
  // Reading one thread takes 2 to 4 µs; more than these would not change the picture.
  static constexpr std::size_t kMaxThreads = 64;

  std::vector<Thread> threads;
  Nanoseconds processor_time = 0;  // of all threads of the program, ended ones too
};

CoreWaits read_core_waits(ThreadRegistry& registry);

// The time that threads waited in between. Threads that began in between count from their
// beginning. Those that ended, or were not read, are taken to have waited as the others did, in
// proportion to processor time; nullopt where those read had less than a tenth of it.
std::optional<Nanoseconds> core_wait_between(const CoreWaits& from, const CoreWaits& to);

}  // namespace coz

#endif  // LIBCOZ_EXPERIMENT_CORE_WAITS_H
