// What each thread owes and has served: the arithmetic of virtual speedup, and nothing else.
//
// When the selected line is sampled in one thread, every other thread must pause for
// d = speedup × sampling period (dissertation, eq. 5.4). Rather than pausing them at once, two
// kinds of counters say how much delay everyone should have served (`global`, G) and how much a
// thread has (`local`). A sample raises the thread's own `local`, and G only where `local` has
// become the largest (§5.2.5.6), so that threads which run the line together do not pause for
// each other. A thread whose `local` is behind G pauses, or is credited when the thread that
// woke it has paused already (§5.2.5.4).
//
// *Effective time* of a thread is `now − local`: the time it would be if the line really were
// faster. When all have settled: samples·d + pauses + credits = G for each thread.
//
// Time is handed in, so that tests need no clock. A ThreadClock is changed by its own thread only
// (the thread itself, or its signal handler while the thread is not inside these functions; see
// thread_state.h); others may read `local`. G may be raised by any thread. No function allocates,
// locks or fails: all may be called in a signal handler.
#ifndef LIBCOZ_DELAY_DELAY_LEDGER_H
#define LIBCOZ_DELAY_DELAY_LEDGER_H

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>

#include "common/clock.h"

namespace coz {

// G. Only ever raised.
class GlobalDelay {
 public:
  Nanoseconds get() const noexcept { return value_.load(std::memory_order_acquire); }

  void raise_to(Nanoseconds value) noexcept {
    Nanoseconds seen = value_.load(std::memory_order_relaxed);
    while (seen < value && !value_.compare_exchange_weak(seen, value, std::memory_order_release,
                                                         std::memory_order_relaxed)) {
    }
  }

 private:
  std::atomic<Nanoseconds> value_{0};
};

class ThreadClock {
 public:
  Nanoseconds local() const noexcept { return local_.load(std::memory_order_relaxed); }
  Nanoseconds excess() const noexcept { return excess_; }

  // A new thread inherits its parent's delays: they delayed its creation (§5.2.5.3).
  void start_at(Nanoseconds local) noexcept {
    set_local(local);
    excess_ = 0;
    saved_wait_ = 0;
  }

  // The thread ran the selected line: `delay` for each sample.
  void charge(Nanoseconds delay, GlobalDelay& global) noexcept {
    set_local(local() + delay);
    global.raise_to(local());
  }

  // How long the thread has to pause now; uses up what it overslept before. Pauses of at most
  // `threshold` are not worth a system call and stay owed.
  Nanoseconds pause_due(Nanoseconds global, Nanoseconds threshold) noexcept {
    const Nanoseconds used = std::clamp<Nanoseconds>(global - local(), 0, excess_);
    excess_ -= used;
    set_local(local() + used);
    const Nanoseconds due = global - local();
    return due > threshold ? due : 0;
  }

  // The thread has paused for `slept` where `due` was asked for. What it overslept serves the
  // pauses to come; it never enters G (§5.2.5.2).
  void paused(Nanoseconds due, Nanoseconds slept) noexcept {
    const Nanoseconds served = std::min(due, slept);
    set_local(local() + served);
    excess_ += std::max<Nanoseconds>(0, slept - due);
  }

  // Where a thread stood when it blocked.
  struct Blocked {
    Nanoseconds local;
    Nanoseconds since;
  };
  Blocked block(Nanoseconds now) const noexcept { return {local(), now}; }

  // The thread was woken by another that had served `waker_local` when it did so. The waker's
  // effective time is carried over; without a record of the waker, G stands in for it. The result
  // may lie below the delay served at blocking: then the thread's wait ended later in effective
  // time than in real time.
  //
  // A thread cannot have served more than it was blocked for, in all its waits together: a sample
  // charges at once what accrued over a period, during which a thread may have waited many times,
  // each time for less than d. So time waited without need of credit is saved, up to `max_saved`,
  // and spent when a wait is too short for the credit it earns (docs/decisions/saved_wait.md).
  void credit(const Blocked& before, Nanoseconds now, std::optional<Nanoseconds> waker_local,
              Nanoseconds global, Nanoseconds max_saved) noexcept {
    const Nanoseconds waited = saved_wait_ + (now - before.since);
    const Nanoseconds earned = std::min(waker_local.value_or(global), global) - before.local;
    const Nanoseconds credit = std::min(earned, waited);
    saved_wait_ = std::min(waited - std::max<Nanoseconds>(credit, 0), max_saved);
    set_local(before.local + credit);
  }

 private:
  void set_local(Nanoseconds value) noexcept { local_.store(value, std::memory_order_relaxed); }

  std::atomic<Nanoseconds> local_{0};
  Nanoseconds excess_ = 0;
  Nanoseconds saved_wait_ = 0;
};

// A thread let go of something at `at`, having served `local` by then.
struct Release {
  Nanoseconds local;
  Nanoseconds at;
};

// What counts as served by a thread that waited for both releases, at the later of them. It goes on
// at the later of their effective times (at − local), as it goes on at the later of them in real
// time. So whoever released earlier has served as much more as the time between them, and the least
// counts. Of a release long ago, that is more than anybody has served.
constexpr Nanoseconds served_at_last(Release one, Release other) noexcept {
  const Nanoseconds last = std::max(one.at, other.at);
  return std::min(one.local + (last - one.at), other.local + (last - other.at));
}

// Below this a pause would mostly measure the cost of sleeping.
inline constexpr Nanoseconds kMinPause = 20 * kMicrosecond;

// How much wait a thread may save, in sampling periods. More would let what it waited in one window
// count in another.
inline constexpr int kMaxSavedPeriods = 5;

}  // namespace coz

#endif  // LIBCOZ_DELAY_DELAY_LEDGER_H
