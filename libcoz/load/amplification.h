// Load amplification (dissertation, ch. 6): each visit of an arrival point speeds its thread up by
// d_a, as if the next request had come that much earlier.
//
// The thread is charged d_a like a sample of a selected line: all others pause, this thread does
// not. After `a` arrivals its time is T − a·d_a. Requests that arrived every r now arrive every
// r − d_a (eq. 6.1, 6.2). They cannot come faster than at once: an arrival that comes less than d_a
// after the last one of its thread is charged less, and later arrivals of the thread make up for
// it, so that bursts keep the mean. What no later arrival can make up for is lost, and counted.
//
// What a thread computes between two of its arrivals is counted, too. If that and d_a together
// exceed the time between the two, then the speedup takes away from the thread's own computing.
// That is right for a thread that makes requests, but not for one that serves them.
//
// All times are effective time (delay_ledger.h), which the profiler's own pauses do not lengthen.
// An ArrivalClock belongs to its thread; Amplification is lock-free, for any thread, also in signal
// handlers.
#ifndef LIBCOZ_LOAD_AMPLIFICATION_H
#define LIBCOZ_LOAD_AMPLIFICATION_H

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "common/clock.h"

namespace coz {

// One arrival, as its thread saw it.
struct Arrival {
  Nanoseconds charge = 0;   // what the thread is to be charged
  Nanoseconds between = 0;  // since its last arrival, before the charge; 0 for its first
  bool is_first = true;
  bool is_clipped = false;   // charged less than d_a
  Nanoseconds computed = 0;  // processor time of the thread since its last arrival; 0 for its first
};

class ArrivalClock {
 public:
  // A thread begins at effective time `start`: none of its arrivals can be earlier.
  void start_at(Nanoseconds start) noexcept {
    last_ = start;
    owed_ = 0;
    none_yet_ = true;
  }

  // An arrival at effective time `time`, which is to come `delay` earlier. `ran` is the thread's
  // processor time.
  Arrival arrive(Nanoseconds time, Nanoseconds delay, Nanoseconds ran) noexcept {
    Arrival arrival;
    arrival.is_first = none_yet_;
    // A credit may have set the thread's effective time back.
    const Nanoseconds room = std::max<Nanoseconds>(0, time - last_);
    arrival.charge = std::min(delay + owed_, room);
    arrival.is_clipped = arrival.charge < delay;
    if (!none_yet_) {
      arrival.between = room;
      arrival.computed = std::max<Nanoseconds>(0, ran - ran_);
    }
    ran_ = ran;
    owed_ = std::min(delay + owed_ - arrival.charge, kMaxOwed * delay);
    last_ = time - arrival.charge;
    none_yet_ = false;
    return arrival;
  }

 private:
  // In arrivals. With more, charges of one burst would still be made up for in the next.
  static constexpr Nanoseconds kMaxOwed = 16;

  Nanoseconds last_ = 0;  // effective time of the last arrival, charged
  Nanoseconds owed_ = 0;
  Nanoseconds ran_ = 0;  // processor time at the last arrival
  bool none_yet_ = true;
};

// Totals up to some moment; differences are totals between two.
struct ArrivalCounts {
  std::uint64_t arrivals = 0;
  std::uint64_t clipped = 0;
  Nanoseconds charged = 0;      // in all
  std::uint64_t intervals = 0;  // arrivals that were not the first of their thread
  Nanoseconds between = 0;      // total length of the intervals, before charges
  Nanoseconds computed = 0;     // processor time of the arrivals' threads within the intervals

  ArrivalCounts since(const ArrivalCounts& before) const noexcept {
    return {arrivals - before.arrivals,   clipped - before.clipped, charged - before.charged,
            intervals - before.intervals, between - before.between, computed - before.computed};
  }
};

class Amplification {
 public:
  // d_a; 0 until it is set.
  Nanoseconds delay() const noexcept { return delay_.load(std::memory_order_relaxed); }
  void set_delay(Nanoseconds delay) noexcept { delay_.store(delay, std::memory_order_relaxed); }

  // `slot`: of the calling thread.
  void count(std::uint32_t slot, const Arrival& arrival) noexcept {
    Share& share = shares_[slot % kShares];
    share.arrivals.fetch_add(1, std::memory_order_relaxed);
    if (arrival.is_clipped) share.clipped.fetch_add(1, std::memory_order_relaxed);
    share.charged.fetch_add(arrival.charge, std::memory_order_relaxed);
    if (arrival.is_first) return;
    share.intervals.fetch_add(1, std::memory_order_relaxed);
    share.between.fetch_add(arrival.between, std::memory_order_relaxed);
    share.computed.fetch_add(arrival.computed, std::memory_order_relaxed);
  }

  // An arrival in a thread that is not profiled, and so cannot be charged.
  void count_unprofiled() noexcept { count(0, {0, 0, true, delay() > 0}); }

  ArrivalCounts counts() const noexcept {
    ArrivalCounts sum;
    for (const Share& share : shares_) {
      sum.arrivals += share.arrivals.load(std::memory_order_relaxed);
      sum.clipped += share.clipped.load(std::memory_order_relaxed);
      sum.charged += share.charged.load(std::memory_order_relaxed);
      sum.intervals += share.intervals.load(std::memory_order_relaxed);
      sum.between += share.between.load(std::memory_order_relaxed);
      sum.computed += share.computed.load(std::memory_order_relaxed);
    }
    return sum;
  }

 private:
  struct alignas(64) Share {
    std::atomic<std::uint64_t> arrivals{0};
    std::atomic<std::uint64_t> clipped{0};
    std::atomic<Nanoseconds> charged{0};
    std::atomic<std::uint64_t> intervals{0};
    std::atomic<Nanoseconds> between{0};
    std::atomic<Nanoseconds> computed{0};
  };
  static constexpr std::size_t kShares = 16;

  std::atomic<Nanoseconds> delay_{0};
  std::array<Share, kShares> shares_{};
};

}  // namespace coz

#endif  // LIBCOZ_LOAD_AMPLIFICATION_H
