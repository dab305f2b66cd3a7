// A progress point: how often it was visited, and when, in effective time.
//
// `counter` comes first and has the classic layout {count, backoff}: programs built with the
// classic header increment `count` themselves. The macros of our own header call visit(), which
// costs an atomic increment and a load; the clock is read only at the two visits that bound a
// window, and at every visit of a latency point. Each thread increments a share of the count: if
// all wrote to one, a visit would cost several times as much.
//
// A window lies between two visits: the first ones after its opening and its end.
// Counting between arbitrary instants would be off by up to a visit at either end.
//
// Any thread may call visit(); the rest is for the experimenter.
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
inline constexpr std::array kPointKindNames = {"throughput", "begin", "end", "arrival"};

// One visit: its number since the start, and its effective time.
struct Visit {
  std::uint64_t number = 0;
  Nanoseconds time = 0;
};

// The visit at an edge of a window: the first one after a request.
class EdgeVisit {
 public:
  // False if a visitor that was held up is still writing an earlier edge. One that is held up for
  // several windows was killed.
  bool request() noexcept {
    std::uint32_t seen = state_.load(std::memory_order_relaxed);
    do {
      if (seen == kTaking && ++refused_ < kMaxRefused) return false;
      refused_ = 0;
    } while (!state_.compare_exchange_weak(seen, kWanted, std::memory_order_acq_rel));
    return true;
  }
  bool is_wanted() const noexcept { return state_.load(std::memory_order_relaxed) == kWanted; }

  // Calls `visits` here, next to the clock, and not when the visit began: a thread that is held up
  // in between must not pair an old number with a new time.
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
  static constexpr int kMaxRefused = 10;
  std::atomic<std::uint32_t> state_{kFree};
  int refused_ = 0;  // of the experimenter
  Visit visit_{};
};

// The number of visits, and the sum of the effective times of the same visits.
//
// The two cannot be raised at once, and a visitor may be held up in between. So the beginning and
// the end of each update are counted, too, and a reader that finds an update under way tries again.
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

  // nullopt if every try met an update under way.
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

  // What threads have added whose slots have the same remainder.
  struct alignas(64) Share {
    std::atomic<std::uint64_t> visits{0};
    VisitTimes times;  // kBegin and kEnd
  };

  static constexpr std::size_t kMaxName = 256;
  static constexpr std::uint32_t kShares = 16;

  Counter counter;
  EdgeVisit edge;
  // Visits come through visit(), which takes the time at edges; else the program only counts.
  std::atomic<bool> times_visits{false};
  // Its visits may be arrivals, to be sped up (load/amplification.h). Set when the point is added.
  bool may_amplify = false;
  PointKind kind = PointKind::kThroughput;
  std::uint32_t number = 0;  // in the registry
  char name[kMaxName] = {};
  std::array<Share, kShares> shares{};

  // At least the count before the call, at most the count after it.
  std::uint64_t visits() const noexcept {
    std::uint64_t sum = counter.count.load(std::memory_order_relaxed);
    for (const Share& share : shares) sum += share.visits.load(std::memory_order_relaxed);
    return sum;
  }

  // For kBegin and kEnd. nullopt if visits were under way all the time.
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

  // Forgets all visits. While no thread visits the point.
  void forget_visits() noexcept {
    counter.count.store(0, std::memory_order_relaxed);
    for (Share& share : shares) std::construct_at(&share);
  }

  // True if a visit needs no more than count(): its time is not asked for.
  bool wants_no_time() const noexcept { return !is_latency() && !may_amplify && !edge.is_wanted(); }

  // The first half of a visit. `slot`: of the calling thread.
  void count(std::uint32_t slot) noexcept {
    shares[slot % kShares].visits.fetch_add(1, std::memory_order_relaxed);
  }

  // The second half.
  template <typename EffectiveNow>
  void take_time(std::uint32_t slot, EffectiveNow effective_now) noexcept {
    if (is_latency()) shares[slot % kShares].times.add(effective_now());
    if (edge.is_wanted()) edge.take([this]() noexcept { return visits(); }, effective_now);
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
