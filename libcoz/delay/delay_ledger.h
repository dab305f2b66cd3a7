// What each thread owes and has served: the arithmetic of virtual speedup, and nothing else.
//
// When the selected target is sampled in one thread, every other thread must pause for
// d = speedup × sampling period (dissertation, eq. 5.4). They do not pause at once. Instead the
// global delay G says how much delay every thread should have served, and each thread's `local` how
// much it has. A sample raises the thread's own `local`, and raises G only if `local` has become
// the largest (§5.2.5.6), so that threads which run the target together do not pause for each
// other. A thread whose `local` is behind G pauses, or is credited if the thread that woke it has
// paused already (§5.2.5.4).
//
// The *effective time* of a thread is `now − local`: the time it would be if the target really were
// faster. When all have settled: samples·d + pauses + credits = G for each thread.
//
// Time is handed in, so that tests need no clock. Only its own thread changes a ThreadClock (the
// thread itself, or its signal handler while the thread is not inside these functions; see
// delay_state.h); others may read `local`. Any thread may raise G. No function allocates, locks or
// fails: all may be called in a signal handler.
#ifndef LIBCOZ_DELAY_DELAY_LEDGER_H
#define LIBCOZ_DELAY_DELAY_LEDGER_H

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
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

  // A new thread inherits its parent's local delay, which delayed its creation (§5.2.5.3).
  void start_at(Nanoseconds local, Nanoseconds excess = 0) noexcept {
    set_local(local);
    excess_ = excess;
    saved_wait_ = 0;
  }

  // The thread ran the selected target: `delay` for each sample.
  void charge(Nanoseconds delay, GlobalDelay& global) noexcept {
    set_local(local() + delay);
    global.raise_to(local());
  }

  // Returns how long the thread has to pause now, after using up what it overslept before. Pauses
  // of at most `threshold` are not worth a system call; the thread keeps owing them.
  Nanoseconds pause_due(Nanoseconds global, Nanoseconds threshold) noexcept {
    use_excess(global);
    const Nanoseconds due = global - local();
    return due > threshold ? due : 0;
  }

  // What the thread overslept before serves what it owes now.
  void use_excess(Nanoseconds global) noexcept {
    const Nanoseconds used = std::clamp<Nanoseconds>(global - local(), 0, excess_);
    excess_ -= used;
    set_local(local() + used);
  }

  // The thread has paused for `slept`, where `due` was asked for. What it overslept serves later
  // pauses, up to `kMaxExcess`: while the whole process stood still, nobody else went on. It never
  // enters G (§5.2.5.2).
  void paused(Nanoseconds due, Nanoseconds slept) noexcept {
    const Nanoseconds served = std::min(due, slept);
    set_local(local() + served);
    excess_ = std::min(excess_ + std::max<Nanoseconds>(0, slept - due), kMaxExcess);
  }

  // The thread gave its processor away, and got it back after `lasted`. Meanwhile it did not hold
  // anyone up, as in a pause.
  void yielded(Nanoseconds lasted, Nanoseconds global) noexcept {
    set_local(local() + std::clamp<Nanoseconds>(global - local(), 0, lasted));
  }

  // Where a thread stood when it blocked.
  struct Blocked {
    Nanoseconds local;
    Nanoseconds since;
  };
  Blocked block(Nanoseconds now) const noexcept { return {local(), now}; }

  // Another thread woke this one, and had served `waker_local` when it did. This thread takes over
  // the waker's effective time; without a record of the waker, G stands in for `waker_local`. The
  // credit may be negative: if the waker had served less than this thread had when it blocked, this
  // thread owes the difference again, `max_owed` at most: more says only that the record is old.
  //
  // A thread cannot have served more than it was blocked for, in all its waits together. But a
  // charge of d comes in one piece, while the waits it should have lengthened were many, each
  // shorter than d. So waiting time that no credit used up is saved, up to
  // `max_saved`, and spent when a wait is too short for the credit it earns
  // (docs/decisions/saved_wait.md).
  //
  // If the wait is virtually shortened by the part s, it is charged `shortened` = s × its length,
  // and s of the credit is void: that part of the time at which the waker let it go on is gone.
  void credit(const Blocked& before, Nanoseconds now, std::optional<Nanoseconds> waker_local,
              Nanoseconds global, Nanoseconds max_saved, Nanoseconds shortened = 0,
              Nanoseconds max_owed = std::numeric_limits<Nanoseconds>::max()) noexcept {
    const Nanoseconds lasted = now - before.since;
    const Nanoseconds waited = saved_wait_ + lasted;
    const Nanoseconds earned =
        std::max(std::min(waker_local.value_or(global), global) - before.local, -max_owed);
    const Nanoseconds credit =
        std::min(earned, waited) - void_part(std::min(earned, waited), shortened, lasted);
    saved_wait_ = std::clamp<Nanoseconds>(waited - std::max<Nanoseconds>(credit, 0) - shortened, 0,
                                          max_saved);
    set_local(before.local + credit);
  }

 private:
  // Longer than a scheduler keeps a thread waiting that may run.
  static constexpr Nanoseconds kMaxExcess = 100 * kMillisecond;

  static Nanoseconds void_part(Nanoseconds credit, Nanoseconds shortened,
                               Nanoseconds lasted) noexcept {
    if (shortened <= 0 || lasted <= 0) return 0;
    const double part = std::min(1.0, static_cast<double>(shortened) / static_cast<double>(lasted));
    return static_cast<Nanoseconds>(part * static_cast<double>(credit));
  }
  void set_local(Nanoseconds value) noexcept { local_.store(value, std::memory_order_relaxed); }

  std::atomic<Nanoseconds> local_{0};
  Nanoseconds excess_ = 0;
  Nanoseconds saved_wait_ = 0;
};

// A thread released something at time `at`, having served `local` by then.
struct Release {
  Nanoseconds local;
  Nanoseconds at;
};

// What a thread has served that waited for both releases, and goes on at the later one. In real
// time it goes on at the later of the two times; so in effective time it goes on at the later of
// the two effective times (at − local). So add the time between the two releases to the earlier
// releaser's delay, and take the smaller sum. If that release was long ago, its sum is the larger
// one, and it does not count.
constexpr Nanoseconds served_at_last(Release one, Release other) noexcept {
  const Nanoseconds last = std::max(one.at, other.at);
  return std::min(one.local + (last - one.at), other.local + (last - other.at));
}

// A shorter pause would mostly measure the cost of sleeping.
inline constexpr Nanoseconds kMinPause = 20 * kMicrosecond;

// How much waiting time a thread may save, in sampling periods. With more, waiting in one window
// would count in another.
inline constexpr int kMaxSavedPeriods = 5;

}  // namespace coz

#endif  // LIBCOZ_DELAY_DELAY_LEDGER_H
