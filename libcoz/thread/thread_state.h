// What the profiler keeps for one thread of the program.
//
// The thread owns its slot from registration to exit; its wrappers and its signal handler exclude
// each other (delay/delay_state.h). Other threads read `tid` and what DelayState allows; the timer
// thread uses `ticks`.
#ifndef LIBCOZ_THREAD_THREAD_STATE_H
#define LIBCOZ_THREAD_THREAD_STATE_H

#include <atomic>
#include <cstdint>

#include "delay/delay_state.h"
#include "load/amplification.h"
#include "target/open_regions.h"
#include "thread/kernel_samples.h"
#include "thread/sample_times.h"
#include "thread/signals_in_pause.h"
#include "thread/tick_account.h"
#include "thread/young_timer.h"

namespace coz {

struct alignas(64) ThreadState {
  static constexpr int kNone = -1;
  static constexpr int kFirstProcess = 0;

  DelayState delay;
  ArrivalClock arrivals;
  OpenRegions regions;
  KernelSamples kernel;
  SampleTimes sample_times;
  YoungTimer young_timer;
  std::uint32_t pauses_seen = 0;   // sampling/sampling_pauses.h
  std::uint32_t regions_seen = 0;  // OpenRegions::changes() at the last sample

  // Inside the sample handler.
  std::atomic<bool> in_handler{false};
  // Samples taken; counted by the handler.
  std::uint32_t samples = 0;
  // How often our handler alone interrupted a system call: wrappers make such a call again
  // (interpose/blocking.h).
  std::atomic<std::uint32_t> interruptions{0};

  // In a call that reads, writes, sends or waits (interpose/kernel_call.h); and so many ticks were
  // due meanwhile, which would have cut it short.
  std::atomic<bool> is_in_kernel_call{false};
  std::uintptr_t kernel_call_frame = 0;  // address of the stack frame that made the call
  std::atomic<std::uint32_t> missed_ticks{0};
  bool is_ticked = false;                   // samples are ticks of the timer
  std::atomic<bool> tick_in_flight{false};  // one is being sent

  // Threads of the run are numbered from 1 on; slots are used again.
  std::uint64_t number = 0;
  std::atomic<int> tid{0};  // 0: the thread has ended
  // Its process, where that is not the one that makes the experiments (process_tree.h).
  std::atomic<int> process{kFirstProcess};
  std::atomic<std::uintptr_t> process_mark{0};  // where that one keeps its number (Session)
  int event = kNone;              // perf descriptor, while the thread has an event of its own
  bool event_is_stopped = false;  // it does not count: sampling has paused
  SignalsInPause in_pause;        // of that event
  Nanoseconds accounted = 0;      // processor time up to which it took samples before it had one
  int timer = kNone;              // likewise a timer (young_timer.h)
  std::atomic<int>* events = nullptr;  // where `event` or `timer` is counted, if it is
  int separator = kNone;               // likewise (open_separator_event), or why there is none
  std::uint32_t pauses_accounted = 0;  // how many pauses there were when `accounted` was set
  bool measures_interrupt = false;     // the events that it opens raise no samples
  Nanoseconds began = 0;               // wall clock
  TickAccount ticks;

  // A new thread takes the slot over; `tid` is set afterwards.
  void reset(std::uint32_t slot) noexcept {
    delay.reset(slot);
    regions.clear();
    in_handler.store(false, std::memory_order_relaxed);
    is_in_kernel_call.store(false, std::memory_order_relaxed);
    missed_ticks.store(0, std::memory_order_relaxed);
    is_ticked = false;
    tick_in_flight.store(false, std::memory_order_relaxed);
    event = kNone;
    event_is_stopped = measures_interrupt = false;
    in_pause = {};
    timer = kNone;
    events = nullptr;
    separator = kNone;
    sample_times.reset();
    ticks.end();
  }
};

}  // namespace coz

#endif  // LIBCOZ_THREAD_THREAD_STATE_H
