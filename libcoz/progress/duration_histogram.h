// How often operations took how long: counts in buckets of equal relative width.
//
// An octave has 64 buckets of equal width, so that a bucket spans at most 1.6 % of a duration. All
// that is shorter than 1024 ns, or longer than the last bucket, is in the first or the last one.
// docs/profile_format.md has the same bounds, for readers.
//
// Any thread may count(); it neither allocates nor locks. Counts are only ever raised, but for
// forget().
#ifndef LIBCOZ_PROGRESS_DURATION_HISTOGRAM_H
#define LIBCOZ_PROGRESS_DURATION_HISTOGRAM_H

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

#include "common/clock.h"

namespace coz {

inline constexpr std::uint32_t kBucketsOfOctave = 64;
inline constexpr std::uint32_t kOctaves = 28;  // from 1024 ns to 275 s
inline constexpr std::uint32_t kDurationBuckets = 1 + kOctaves * kBucketsOfOctave;

constexpr std::uint32_t duration_bucket(Nanoseconds duration) noexcept {
  constexpr int kFirstOctave = 10;
  constexpr int kBits = std::countr_zero(kBucketsOfOctave);
  if (duration < (Nanoseconds{1} << kFirstOctave)) return 0;
  const auto value = static_cast<std::uint64_t>(duration);
  const int octave = 63 - std::countl_zero(value);
  const auto within = static_cast<std::uint32_t>(value >> (octave - kBits)) - kBucketsOfOctave;
  const auto first = static_cast<std::uint32_t>(octave - kFirstOctave) * kBucketsOfOctave;
  return std::min(1 + first + within, kDurationBuckets - 1);
}

class DurationHistogram {
 public:
  using Counts = std::array<std::uint32_t, kDurationBuckets>;

  void count(Nanoseconds duration) noexcept {
    counts_[duration_bucket(duration)].fetch_add(1, std::memory_order_relaxed);
  }
  // Modulo 2^32, as differences are.
  Counts get() const noexcept {
    Counts counts;
    for (std::uint32_t i = 0; i < kDurationBuckets; ++i) {
      counts[i] = counts_[i].load(std::memory_order_relaxed);
    }
    return counts;
  }
  // While no thread counts.
  void forget() noexcept {
    for (auto& count : counts_) count.store(0, std::memory_order_relaxed);
  }

 private:
  std::array<std::atomic<std::uint32_t>, kDurationBuckets> counts_{};
};

}  // namespace coz

#endif  // LIBCOZ_PROGRESS_DURATION_HISTOGRAM_H
