// The buckets of young threads (charge_smoother.h), which they all share.
//
// A thread that lives for less than a few periods has no next runs over which a sample could be
// charged: one of many would be charged for all of them, and where threads run side by side, the
// others would not keep up with it. So a young thread has no buckets of its own. Its samples fill
// shared ones, and each young thread that runs a code segment is charged what the segment's bucket
// loses meanwhile. Threads that run side by side are so charged alike. What one leaves, later ones
// are charged.
//
// A thread that ends has no later pause to shorten by what it overslept. So the next thread of its
// kind begins with that.
//
// One target at a time. Lock-free; any thread, also in signal handlers. Threads take what a
// bucket held a moment ago, so it may go below 0. Then nothing is taken until it is filled again:
// what is charged equals what was sampled. Only what is added while
// the target changes may be lost.
#ifndef LIBCOZ_DELAY_YOUNG_CHARGES_H
#define LIBCOZ_DELAY_YOUNG_CHARGES_H

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "common/clock.h"
#include "target/selection.h"

namespace coz {

class YoungCharges {
 public:
  static constexpr std::size_t kBuckets = 256;

  // The target whose samples the buckets hold.
  std::uint32_t target() const noexcept { return target_.load(std::memory_order_acquire) - 1; }

  // Samples in `target` follow. Those in another are forgotten.
  void select(std::uint32_t target) noexcept {
    if (this->target() == target) return;
    if (target_.exchange(target + 1, std::memory_order_acq_rel) == target + 1) return;
    for (Bucket& bucket : buckets_) {
      bucket.line_time.store(0, std::memory_order_relaxed);
      bucket.ran.store(0, std::memory_order_relaxed);
    }
  }

  Nanoseconds line_time(std::size_t bucket) const noexcept {
    return std::max<Nanoseconds>(0, buckets_[bucket].line_time.load(std::memory_order_relaxed));
  }
  // For how long threads have run while the bucket was not empty.
  Nanoseconds ran(std::size_t bucket) const noexcept {
    return buckets_[bucket].ran.load(std::memory_order_relaxed);
  }

  void add(std::size_t bucket, Nanoseconds line_time) noexcept {
    buckets_[bucket].line_time.fetch_add(line_time, std::memory_order_relaxed);
  }
  // A thread of that kind ends, and had overslept by `excess`.
  void leave_excess(std::size_t kind, Nanoseconds excess) noexcept {
    Bucket& bucket = buckets_[kind];
    if (excess > 0 && bucket.excess.load(std::memory_order_relaxed) < kMaxExcess) {
      bucket.excess.fetch_add(excess, std::memory_order_relaxed);
      bucket.last_excess.store(excess, std::memory_order_relaxed);
    }
  }
  // A thread begins. It gets no more than the last one left, so that threads that begin together
  // get equal parts.
  Nanoseconds take_excess(std::size_t kind) noexcept {
    Bucket& bucket = buckets_[kind];
    Nanoseconds left = bucket.excess.load(std::memory_order_relaxed);
    const Nanoseconds part = std::min(left, bucket.last_excess.load(std::memory_order_relaxed));
    const bool is_taken = part > 0 && bucket.excess.compare_exchange_strong(
                                          left, left - part, std::memory_order_relaxed);
    return is_taken ? part : 0;
  }

  // A thread has run for `ran`, and is charged `line_time`.
  void take(std::size_t bucket, Nanoseconds line_time, Nanoseconds ran) noexcept {
    buckets_[bucket].line_time.fetch_sub(line_time, std::memory_order_relaxed);
    buckets_[bucket].ran.fetch_add(ran, std::memory_order_relaxed);
  }

 private:
  struct Bucket {
    std::atomic<Nanoseconds> line_time{0};
    std::atomic<Nanoseconds> ran{0};
    std::atomic<Nanoseconds> excess{0};
    std::atomic<Nanoseconds> last_excess{0};
  };
  // Of threads of a kind in all.
  static constexpr Nanoseconds kMaxExcess = 10 * kMillisecond;

  std::atomic<std::uint32_t> target_{0};  // + 1, so that zeros stand for kNoTarget
  std::array<Bucket, kBuckets> buckets_{};
};

}  // namespace coz

#endif  // LIBCOZ_DELAY_YOUNG_CHARGES_H
