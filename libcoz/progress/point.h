// A progress point: how often it was visited, and when, in effective time.
//
// `counter` stands first and has the classic layout {count, backoff}: programs built with the
// classic header increment `count` themselves. Marks of our own header call visit(), which costs
// an atomic increment and a load; the clock is read only at the two visits that bound a window,
// and at every visit of a latency point. Each thread increments a share of the count: one that
// all threads wrote to would cost each of them several times as much.
//
// A window lies between two visits: the first after `open` and the first after `close` were asked
// for. Counting between arbitrary instants would be off by up to a visit at either end.
//
// visit() may be called by any thread; the rest by the experimenter only.
#ifndef LIBCOZ_PROGRESS_POINT_H
#define LIBCOZ_PROGRESS_POINT_H

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "common/clock.h"

namespace coz {

enum class PointKind : int { kThroughput = 1, kBegin = 2, kEnd = 3, kArrival = 4 };

// One visit: how many there were up to it, and its effective time.
struct Visit {
  std::uint64_t number = 0;
  Nanoseconds time = 0;
};

// The first visit after a request.
class VisitMark {
 public:
  // False when a visitor that was held up is still writing the mark asked for before.
  bool request() noexcept {
    std::uint32_t seen = state_.load(std::memory_order_relaxed);
    do {
      if (seen == kTaking) return false;
    } while (!state_.compare_exchange_weak(seen, kWanted, std::memory_order_acq_rel));
    return true;
  }
  bool is_wanted() const noexcept { return state_.load(std::memory_order_relaxed) == kWanted; }

  // `visits` is asked here, beside the clock, not when the visit began: a thread that is held up in
  // between must not pair an old number with a new time.
  template <typename Visits, typename EffectiveNow>
  void take(Visits visits, EffectiveNow effective_now) noexcept {
    std::uint32_t wanted = kWanted;
    if (!state_.compare_exchange_strong(wanted, kTaking, std::memory_order_acquire)) return;
    const std::uint64_t number = visits();
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

// How many visits there were, and the sum of their effective times: of the same visits.
//
// Two numbers can't be raised at once; a visitor may be held up between them. So the beginning and
// the end of each entry are counted too, and a reader that finds an entry under way tries again.
class VisitTimes {
 public:
  struct Sum {
    std::uint64_t visits = 0;
    std::uint64_t times = 0;  // modulo 2^64
  };

  void add(Nanoseconds time) noexcept {
    begun_.fetch_add(1, std::memory_order_relaxed);
    times_.fetch_add(static_cast<std::uint64_t>(time), std::memory_order_acq_rel);
    ended_.fetch_add(1, std::memory_order_release);
  }

  // nullopt when every try met an entry under way.
  std::optional<Sum> get() const noexcept {
    constexpr int kTries = 1000;
    for (int i = 0; i < kTries; ++i) {
      const std::uint64_t ended = ended_.load(std::memory_order_acquire);
      const std::uint64_t times = times_.load(std::memory_order_acquire);
      if (begun_.load(std::memory_order_acquire) == ended) return Sum{ended, times};
    }
    return std::nullopt;
  }

 private:
  std::atomic<std::uint64_t> begun_{0};
  std::atomic<std::uint64_t> times_{0};
  std::atomic<std::uint64_t> ended_{0};
};

struct alignas(64) Point {
  struct Counter {  // the classic coz_counter_t
    std::atomic<std::size_t> count{0};
    std::size_t backoff = 0;
  };

  // What the threads with the same remainder of their slot's number have added.
  struct alignas(64) Share {
    std::atomic<std::uint64_t> visits{0};
    VisitTimes times;  // kBegin and kEnd
  };

  static constexpr std::size_t kMaxName = 256;
  static constexpr std::uint32_t kShares = 16;

  Counter counter;
  VisitMark mark;
  // Visits come through visit(), so that marks are taken; else the program only counts.
  std::atomic<bool> marks_visits{false};
  // Its visits may be arrivals that are sped up (load/amplification.h). Set as it is added.
  bool may_amplify = false;
  PointKind kind = PointKind::kThroughput;
  char name[kMaxName] = {};
  std::array<Share, kShares> shares{};

  // No less than what was counted before the call, no more than what was after it.
  std::uint64_t visits() const noexcept {
    std::uint64_t sum = counter.count.load(std::memory_order_relaxed);
    for (const Share& share : shares) sum += share.visits.load(std::memory_order_relaxed);
    return sum;
  }

  // Of kBegin and kEnd. nullopt when visits were under way all the time.
  std::optional<VisitTimes::Sum> times() const noexcept {
    VisitTimes::Sum sum;
    for (const Share& share : shares) {
      const auto part = share.times.get();
      if (!part) return std::nullopt;
      sum.visits += part->visits;
      sum.times += part->times;
    }
    return sum;
  }

  // While nobody visits it: as if nobody had.
  void forget_visits() noexcept {
    counter.count.store(0, std::memory_order_relaxed);
    for (Share& share : shares) std::construct_at(&share);
  }

  // True when the visit is done with count(): neither it nor a window asks for its time.
  bool wants_no_time() const noexcept { return !is_latency() && !may_amplify && !mark.is_wanted(); }

  // The first half of a visit. `slot`: of the calling thread.
  void count(std::uint32_t slot) noexcept {
    shares[slot % kShares].visits.fetch_add(1, std::memory_order_relaxed);
  }

  // The second half.
  template <typename EffectiveNow>
  void take_time(std::uint32_t slot, EffectiveNow effective_now) noexcept {
    if (is_latency()) shares[slot % kShares].times.add(effective_now());
    if (mark.is_wanted()) mark.take([this]() noexcept { return visits(); }, effective_now);
  }

  template <typename EffectiveNow>
  void visit(EffectiveNow effective_now, std::uint32_t slot = 0) noexcept {
    count(slot);
    take_time(slot, effective_now);
  }

 private:
  bool is_latency() const noexcept { return kind == PointKind::kBegin || kind == PointKind::kEnd; }
};

}  // namespace coz

#endif  // LIBCOZ_PROGRESS_POINT_H
