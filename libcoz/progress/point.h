// A progress point: how often it was visited, and when, in effective time.
//
// `counter` stands first and has the classic layout {count, backoff}: programs built with the
// classic header increment `count` themselves. Marks of our own header call visit(), which costs
// an atomic increment and a load; the clock is read only at the two visits that bound a window,
// and at every visit of a latency point.
//
// A window lies between two visits: the first after `open` and the first after `close` were asked
// for. Counting between arbitrary instants would be off by up to a visit at either end.
//
// visit() may be called by any thread; the rest by the experimenter only.
#ifndef LIBCOZ_PROGRESS_POINT_H
#define LIBCOZ_PROGRESS_POINT_H

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "os/clock.h"

namespace coz {

enum class PointKind : int { kThroughput = 1, kBegin = 2, kEnd = 3, kArrival = 4 };

// One visit: its number, counted from 1, and its effective time.
struct Visit {
  std::uint64_t number = 0;
  Nanoseconds time = 0;
};

// The first visit after a request.
class VisitMark {
 public:
  void request() noexcept {
    state_.store(kFree, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    state_.store(kWanted, std::memory_order_release);
  }
  bool is_wanted() const noexcept { return state_.load(std::memory_order_relaxed) == kWanted; }

  template <typename EffectiveNow>
  void take(std::uint64_t number, EffectiveNow effective_now) noexcept {
    std::uint32_t wanted = kWanted;
    if (!state_.compare_exchange_strong(wanted, kTaking, std::memory_order_acquire)) return;
    visit_ = {number, effective_now()};
    state_.store(kTaken, std::memory_order_release);
  }
  bool is_taken() const noexcept { return state_.load(std::memory_order_acquire) == kTaken; }
  void withdraw() noexcept {
    std::uint32_t wanted = kWanted;
    state_.compare_exchange_strong(wanted, kFree, std::memory_order_relaxed);
  }
  Visit visit() const noexcept { return visit_; }

 private:
  static constexpr std::uint32_t kFree = 0, kWanted = 1, kTaking = 2, kTaken = 3;
  std::atomic<std::uint32_t> state_{kFree};
  Visit visit_{};
};

struct alignas(64) Point {
  struct Counter {  // the classic coz_counter_t
    std::atomic<std::size_t> count{0};
    std::size_t backoff = 0;
  };

  static constexpr std::size_t kMostName = 256;

  Counter counter;
  VisitMark mark;
  // Sum of the effective times of all visits (kBegin and kEnd), modulo 2^64.
  std::atomic<std::uint64_t> time_sum{0};
  // Visits come through visit(), so that marks are taken; else the program only counts.
  std::atomic<bool> marks_visits{false};
  PointKind kind = PointKind::kThroughput;
  char name[kMostName] = {};

  std::uint64_t visits() const noexcept { return counter.count.load(std::memory_order_relaxed); }

  template <typename EffectiveNow>
  void visit(EffectiveNow effective_now) noexcept {
    const std::uint64_t number = counter.count.fetch_add(1, std::memory_order_relaxed) + 1;
    if (kind == PointKind::kBegin || kind == PointKind::kEnd) {
      time_sum.fetch_add(static_cast<std::uint64_t>(effective_now()), std::memory_order_relaxed);
    }
    if (mark.is_wanted()) mark.take(number, effective_now);
  }
};

}  // namespace coz

#endif  // LIBCOZ_PROGRESS_POINT_H
