// What the profiler keeps for one thread of the program.
//
// A slot is owned by its thread from registration to exit. The owner's signal handler and the
// owner's wrappers take turns by `busy`: while it is set, the handler only notes what is to be
// charged, and the wrapper (ThreadDelays, thread_delays.h) takes it up before it goes on. Other
// threads read `clock`, `blocked` and `tid` only.
#ifndef LIBCOZ_THREAD_THREAD_STATE_H
#define LIBCOZ_THREAD_THREAD_STATE_H

#include <atomic>
#include <cstdint>

#include "delay/charge_smoother.h"
#include "delay/delay_ledger.h"
#include "load/amplification.h"
#include "target/open_regions.h"
#include "target/selection.h"
#include "thread/kernel_samples.h"

namespace coz {

struct alignas(64) ThreadState {
  ThreadClock clock;
  ChargeSmoother smoother;
  ArrivalClock arrivals;
  std::uint32_t smoothed_target = kNoTarget;  // the target whose hits are being spread
  OpenRegions regions;
  KernelSamples kernel;
  std::uint32_t pauses_seen = 0;  // sampling/sampling_pauses.h
  ThreadClock::Blocked blocked_at{};
  std::uintptr_t blocked_frame = 0;  // the stack, when it blocked

  // Set by the owner around its own bookkeeping; read by its signal handler.
  std::atomic<bool> busy{false};
  // In a call that may block: the handler must not pause, and nobody waits for us to settle.
  std::atomic<bool> blocked{false};
  // Serving a pause: what samples find then is not the program.
  std::atomic<bool> pausing{false};
  // Inside the sample handler: calls that the unwinder makes are not the program's.
  std::atomic<bool> in_handler{false};
  // Charges that came while the thread was busy or blocked, ns.
  std::atomic<Nanoseconds> deferred{0};
  // Runs of the sample handler; its own.
  std::uint32_t samples = 0;
  // Calls that ended with EINTR by a run of our handler, and by none of the program's: wrappers
  // make them again (interpose/blocking.h).
  std::atomic<std::uint32_t> interruptions{0};

  std::atomic<int> tid{0};    // 0: the slot is free
  std::uint32_t slot = 0;     // index in the registry
  int event = -1;             // perf descriptor, in the mode that needs one a thread
  Nanoseconds next_tick = 0;  // processor time of the next sample, for the timer (its thread)
};

}  // namespace coz

#endif  // LIBCOZ_THREAD_THREAD_STATE_H
