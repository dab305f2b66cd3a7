// What the delay rules keep for one thread: its clock, the charges that are being smoothed, and
// where it stood when it blocked.
//
// The thread owns it. Its signal handler and its wrappers exclude each other by `busy`: while it is
// set, the handler only defers charges, and the wrapper applies them before it goes on
// (thread_delays.h). Other threads read `clock.local()`, `busy`, `blocked`, `queue_waits`,
// `releases`, `target_samples`, `thread_wait` and `pause_cost` only.
#ifndef LIBCOZ_DELAY_DELAY_STATE_H
#define LIBCOZ_DELAY_DELAY_STATE_H

#include <atomic>
#include <cstdint>

#include "delay/charge_smoother.h"
#include "delay/clock_schedule.h"
#include "delay/delay_ledger.h"
#include "delay/outside_queues.h"
#include "delay/queue_waits.h"
#include "delay/wait_charges.h"
#include "target/selection.h"

namespace coz {

struct DelayState {
  // The owner changes its own state; its signal handler must not.
  std::atomic<bool> busy{false};
  // In a call that may block. The handler must not pause then, and the thread counts as settled.
  std::atomic<bool> blocked{false};
  // Charges that came while the thread was busy or blocked, ns.
  std::atomic<Nanoseconds> deferred{0};
  // Locks released and units of semaphores given: as many for each item of a queue.
  std::atomic<std::uint64_t> releases{0};
  ThreadClock clock;
  ChargeSmoother smoother;  // every call uses the fields above, and its first ones

  std::uintptr_t busy_frame = 0;  // address of the stack frame that has set `busy`
  std::uint32_t slot = 0;         // identifies the thread in WakerTable and PendingCharges
  LockHolder holder = 0;          // and as the holder of locks, in WaitCharges

  std::uint32_t kind = 0;                     // of YoungCharges
  std::uint32_t smoothed_target = kNoTarget;  // the target whose samples the smoother holds
  std::uint32_t smoothed_epoch = 0;  // where windows are combined: of the delays of its mixes

  ThreadClock::Blocked blocked_at{};
  Nanoseconds prolonged_at = 0;  // when it began to wait on after a time-out
  // Address of the stack frame that blocked; calls from frames below it come from signal handlers.
  std::uintptr_t blocked_frame = 0;

  QueueWaits queue_waits;
  bool waits_outside = false;  // its wait, or its last one, is for something outside
  // Samples in the main target, as often as it was selected.
  std::atomic<std::uint64_t> target_samples{0};
  // Time that it waited for other threads of the program, ns.
  std::atomic<Nanoseconds> thread_wait{0};
  // Waiting in the main target that is not a whole period yet, ns.
  Nanoseconds target_wait = 0;
  // The lock that it took last to share it with others, while it has it.
  std::uintptr_t shared_lock = WaitCharges::kNoLock;
  // Of a wait for a lock that is over: what it is charged, ns.
  Nanoseconds lock_wait_charge = 0;
  // What it waits for outside.
  OutsideQueues::Request outside;
  ClockSchedules schedules;
  // Processor time of its pauses, ns: if it has waited at queues, or pauses busily.
  std::atomic<Nanoseconds> pause_cost{0};

  // In a wait that the program has marked (COZ_PRE_BLOCK). It may spin, which is no work.
  std::atomic<bool> in_marked_wait{false};
  // In a pause. A sample taken meanwhile does not show where the program is.
  std::atomic<bool> pausing{false};
  // The thread has a timer of its own (thread/young_timer.h). It is held in pauses and in calls
  // that may wait, which its signal would interrupt.
  bool has_timer = false;
  std::atomic<bool> timer_held{false};

  // A new thread takes the slot over. The clock is set by start_at().
  void reset(std::uint32_t new_slot) noexcept {
    slot = new_slot;
    busy.store(false, std::memory_order_relaxed);
    pausing.store(false, std::memory_order_relaxed);
    blocked.store(false, std::memory_order_relaxed);
    in_marked_wait.store(false, std::memory_order_relaxed);
    has_timer = false;
    timer_held.store(false, std::memory_order_relaxed);
    deferred.store(0, std::memory_order_relaxed);
    queue_waits.reset();
    waits_outside = false;
    releases.store(0, std::memory_order_relaxed);
    target_samples.store(0, std::memory_order_relaxed);
    thread_wait.store(0, std::memory_order_relaxed);
    target_wait = 0;
    shared_lock = WaitCharges::kNoLock;
    lock_wait_charge = 0;
    outside = {};
    schedules = {};
    pause_cost.store(0, std::memory_order_relaxed);
    smoother.reset();
    smoothed_target = kNoTarget;
    smoothed_epoch = 0;
  }
};

}  // namespace coz

#endif  // LIBCOZ_DELAY_DELAY_STATE_H
