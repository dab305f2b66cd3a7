// The code segments of a thread (charge_smoother.h), and the kinds of runs that each has.
//
// A segment is known by the call after which it begins. That does not tell what runs: a worker of a
// thread pool takes every task after the same call. If a sample in one task were charged over all
// runs of the segment, other tasks would seem faster with it. So runs are told apart when they end,
// by the call that ends them and by how long they took, and each kind has a bucket of its own. But
// kinds share what their buckets hold until their samples show that they differ: that
//
//     (h_1·t − h·t_1)²  >  kSure²·h·t_1·t_2,        h = h_1 + h_2,  t = t_1 + t_2
//
// with h_i samples in selected targets in the time t_i (a test of two Poisson rates).
//
// One thread owns it. Nothing allocates, locks or fails.
#ifndef LIBCOZ_DELAY_SEGMENT_TABLE_H
#define LIBCOZ_DELAY_SEGMENT_TABLE_H

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "common/clock.h"

namespace coz {

// Segments that are told apart, and kinds of runs of each.
inline constexpr std::uint32_t kSegments = 32;
inline constexpr std::uint32_t kKinds = 4;

// Of a kind of runs. `length`: mean of the runs, ns. Shares: in units of 1/kAllRuns.
struct Bucket {
  std::uintptr_t end = 0;  // the return address of the call that ends them
  Nanoseconds length = 0;
  Nanoseconds line_time = 0;
  Nanoseconds ran = 0;                         // while the segment was not empty, at most the scale
  std::int64_t hits = 0;                       // samples in selected targets,
  std::int64_t hit_time = 0;                   // in so many microseconds
  std::int32_t share = 0;                      // of the last runs
  std::array<std::int32_t, kKinds> follows{};  // of the last runs that came after one of each kind
  bool is_guess = false;                       // the length is only a lower bound
};

// A cache line, since every call of a wrapper reads one.
struct alignas(64) Segment {
  std::uintptr_t site = 0;    // 0: it is none
  Nanoseconds line_time = 0;  // in all of its buckets, and of samples in the run that goes on
  Nanoseconds run = 0;        // mean length over the last observed runs
  std::int32_t samples = 0;   // mean over the last runs
  bool is_long = false;
  std::uint8_t kinds = 0;   // of runs that it has had: its first buckets
  std::uint8_t last = 0;    // of these, that of the last run
  std::uint16_t every = 1;  // one of so many runs is observed, on average;
  std::uint16_t skip = 0;   // the next one after this many

  void empty() noexcept {
    line_time = run = 0;
    skip = 0;
    every = 1;
  }
};

// A run, as far as it is known. is_whole: is its length known, or only a lower bound?
struct SegmentRun {
  std::uintptr_t end = 0;
  Nanoseconds length = 0;
  bool is_whole = false;
};

class SegmentTable {
 public:
  static constexpr std::int32_t kAllRuns = 1 << 12;

  Segment& segment(std::uint32_t index) noexcept { return segments_[index]; }
  const Segment& segment(std::uint32_t index) const noexcept { return segments_[index]; }
  Bucket& bucket(std::uint32_t index) noexcept { return buckets_[index]; }
  const Bucket& bucket(std::uint32_t index) const noexcept { return buckets_[index]; }
  // The first of a segment's buckets, and the end of those that it uses: at least one.
  static std::uint32_t first_bucket(std::uint32_t segment) noexcept { return segment * kKinds; }
  std::uint32_t end_of_buckets(std::uint32_t segment) const noexcept {
    return first_bucket(segment) + std::max<std::uint32_t>(segments_[segment].kinds, 1);
  }

  // The segment that begins there. Every call of a wrapper comes here; most find it at home.
  std::uint32_t find(std::uintptr_t site) noexcept {
    const std::uint32_t home = home_of(site);
    return segments_[home].site == site ? home : look_up(site);
  }

  // The bucket of a run of the segment that has ended.
  std::uint32_t find_kind(std::uint32_t segment, const SegmentRun& run) noexcept {
    const Choice choice = choose_kind(segment, run);
    const std::uint32_t found = choice.index;
    Bucket& bucket = buckets_[found];
    if (choice.is_new) {
      Segment& of = segments_[segment];
      of.kinds = std::max(of.kinds, static_cast<std::uint8_t>(found - first_bucket(segment) + 1));
      // What it holds is of samples in runs of which nothing was known.
      bucket = Bucket{.end = run.end,
                      .length = run.length,
                      .line_time = bucket.line_time,
                      .ran = bucket.ran,
                      .is_guess = !run.is_whole};
    } else if (bucket.is_guess && run.is_whole) {
      bucket.length = run.length;
      bucket.is_guess = false;
    } else if (run.is_whole && is_near(bucket, run.length)) {
      bucket.length += (run.length - bucket.length) / kMeanOver;
    }
    count(segment, found - first_bucket(segment));
    return found;
  }

  // Runs of the kind `of` are charged what this bucket of the same segment holds, too.
  bool drains(std::uint32_t of, std::uint32_t other) const noexcept {
    if (of == other) return true;
    return buckets_[other].line_time != 0 && !differ(buckets_[of], buckets_[other]);
  }
  // Of the buckets that they are charged together, which decay alike: the longest `ran`.
  Nanoseconds ran_of(std::uint32_t kind) const noexcept {
    Nanoseconds ran = 0;
    const std::uint32_t segment = kind / kKinds;
    for (std::uint32_t i = first_bucket(segment); i < end_of_buckets(segment); ++i) {
      if (drains(kind, i)) ran = std::max(ran, buckets_[i].ran);
    }
    return ran;
  }

  // The kind has run for so long.
  void ran(std::uint32_t segment, std::uint32_t kind, Nanoseconds time) noexcept {
    buckets_[kind].hit_time += time / kMicrosecond;
    if (buckets_[kind].hits < kMaxHits && buckets_[kind].hit_time < kMaxHitTime) return;
    for (std::uint32_t i = first_bucket(segment); i < end_of_buckets(segment); ++i) {
      buckets_[i].hits /= 2;
      buckets_[i].hit_time /= 2;
    }
  }

  // Samples in another target follow.
  void forget_hits() noexcept {
    for (Bucket& bucket : buckets_) bucket.hits = bucket.hit_time = 0;
  }

  // What runs of this kind are charged in the end, if no samples are added.
  Nanoseconds line_time_of(std::uint32_t kind) const noexcept {
    Nanoseconds sum = 0;
    const std::uint32_t segment = kind / kKinds;
    for (std::uint32_t i = first_bucket(segment); i < end_of_buckets(segment); ++i) {
      if (drains(kind, i)) sum += buckets_[i].line_time;
    }
    return sum;
  }

  // Of the kinds that often follow the last one: that which is charged most, and least.
  std::uint32_t fullest(std::uint32_t segment) const noexcept {
    return extreme(segment, [](Nanoseconds one, Nanoseconds other) { return one > other; });
  }
  std::uint32_t emptiest(std::uint32_t segment) const noexcept {
    return extreme(segment, [](Nanoseconds one, Nanoseconds other) { return one < other; });
  }

  void clear() noexcept {
    for (std::uint32_t i = 0; i < kSegments; ++i) {
      // Before its first call a thread is in a segment without a site.
      if (segments_[i].site == 0 && segments_[i].line_time == 0) continue;
      segments_[i].empty();
      for (std::uint32_t k = first_bucket(i); k < end_of_buckets(i); ++k) {
        buckets_[k].line_time = buckets_[k].ran = 0;
      }
    }
  }

  // For smaller tables than this. Sites are often a few dozen bytes apart, where a multiplication
  // alone makes neighbours of them.
  static std::uint64_t hash(std::uintptr_t site) noexcept {
    std::uint64_t mixed = site * kGoldenRatio;
    mixed ^= mixed >> 29;
    mixed *= 0xbf58476d1ce4e5b9U;
    return mixed >> 32;
  }

 private:
  static constexpr std::uint64_t kGoldenRatio = 0x9e3779b97f4a7c15U;
  static_assert(std::has_single_bit(kSegments));
  // Quicker than hash(): here neighbours cost a few more looks.
  static std::uint32_t home_of(std::uintptr_t site) noexcept {
    return static_cast<std::uint32_t>((site * kGoldenRatio) >> (64 - std::countr_zero(kSegments)));
  }
  static constexpr std::uint32_t kTries = 8;
  static constexpr std::int32_t kMeanOver = 16;  // runs
  // Runs of one kind differ by less than this part of their length, or by this time: a sample alone
  // makes one a few microseconds longer.
  static constexpr Nanoseconds kPart = 4;
  static constexpr Nanoseconds kAlike = 15 * kMicrosecond;

  // Of a site that is not at home. If it is not in the table, it gets a place that none has had,
  // else one that holds no line time. If there is none of these, it shares one, so that no time is
  // lost.
  [[gnu::noinline]] std::uint32_t look_up(std::uintptr_t site) noexcept {
    const std::uint32_t home = home_of(site);
    std::uint32_t empty = kSegments;
    for (std::uint32_t step = 0; step < kTries; ++step) {
      const std::uint32_t index = (home + step) % kSegments;
      if (segments_[index].site == site) return index;
      if (segments_[index].site == 0) {
        empty = index;
        break;
      }
      if (empty == kSegments && segments_[index].line_time == 0) empty = index;
    }
    if (empty == kSegments) return home;
    segments_[empty] = Segment{};
    segments_[empty].site = site;
    std::fill_n(buckets_.begin() + first_bucket(empty), kKinds, Bucket{});
    return empty;
  }

  void count(std::uint32_t segment, std::uint32_t kind) noexcept {
    const std::uint32_t first = first_bucket(segment);
    std::uint8_t& last = segments_[segment].last;
    for (std::uint32_t i = 0; i < segments_[segment].kinds; ++i) {
      Bucket& bucket = buckets_[first + i];
      const std::int32_t now = i == kind ? kAllRuns : 0;
      bucket.share += (now - bucket.share) / kMeanOver;
      bucket.follows[last] += (now - bucket.follows[last]) / kMeanOver;
    }
    last = static_cast<std::uint8_t>(kind);
  }

  template <typename Before>
  std::uint32_t extreme(std::uint32_t segment, Before before) const noexcept {
    const std::uint32_t first = first_bucket(segment);
    const std::uint8_t last = segments_[segment].last;
    std::uint32_t found = first;
    for (std::uint32_t i = first + 1; i < end_of_buckets(segment); ++i) {
      const bool is_rare = buckets_[i].follows[last] < kRare;
      const bool was_rare = buckets_[found].follows[last] < kRare;
      if (is_rare && !was_rare) continue;
      if (is_rare != was_rare || before(line_time_of(i), line_time_of(found))) found = i;
    }
    return found;
  }

  // Standard errors by which kinds must differ; samples from which on old ones are forgotten, and
  // microseconds likewise.
  static constexpr std::int64_t kSure = 5;
  static constexpr std::int64_t kMaxHits = 2000;
  static constexpr std::int64_t kMaxHitTime = 20'000'000;

  static bool differ(const Bucket& one, const Bucket& other) noexcept {
    __extension__ using Wide = __int128;
    const std::int64_t hits = one.hits + other.hits;
    const std::int64_t time = one.hit_time + other.hit_time;
    const Wide excess = static_cast<Wide>(one.hits) * time - static_cast<Wide>(hits) * one.hit_time;
    return excess * excess >
           static_cast<Wide>(kSure * kSure * hits) * one.hit_time * other.hit_time;
  }

  static Nanoseconds distance(const Bucket& bucket, const SegmentRun& run) noexcept {
    return std::abs(bucket.length - run.length);
  }
  static bool is_near(const Bucket& bucket, Nanoseconds length) noexcept {
    return std::abs(bucket.length - length) <= std::max(bucket.length / kPart, kAlike);
  }

  struct Choice {
    std::uint32_t index;
    bool is_new;
  };
  // One that fits, the most frequent, so that runs that vary a little become one kind; else one
  // that is free; else one that is empty, the rarest; else the nearest.
  Choice choose_kind(std::uint32_t segment, const SegmentRun& run) const noexcept {
    const std::uint32_t first = first_bucket(segment);
    const std::uint32_t end = first + segments_[segment].kinds;
    std::uint32_t fits = kNone, empty = kNone, nearest = first;
    for (std::uint32_t i = first; i < end; ++i) {
      const Bucket& bucket = buckets_[i];
      const bool is_same = bucket.end == run.end;
      const bool may_fit = bucket.is_guess ? bucket.length <= run.length
                           : run.is_whole  ? is_near(bucket, run.length)
                                           : bucket.length >= run.length;
      if (is_same && may_fit && (fits == kNone || bucket.share > buckets_[fits].share)) fits = i;
      if (bucket.line_time == 0 && (empty == kNone || bucket.share < buckets_[empty].share)) {
        empty = i;
      }
      if (distance(bucket, run) < distance(buckets_[nearest], run)) nearest = i;
    }
    if (fits != kNone) return {fits, false};
    if (end < first + kKinds) return {end, true};
    if (empty != kNone && buckets_[empty].share < kRare) return {empty, true};
    return {nearest, false};
  }

  static constexpr std::uint32_t kNone = UINT32_MAX;
  // A kind without line time that takes up less of the runs makes room for another.
  static constexpr std::int32_t kRare = kAllRuns / 32;

  std::array<Segment, kSegments> segments_{};
  std::array<Bucket, kSegments * kKinds> buckets_{};
};

}  // namespace coz

#endif  // LIBCOZ_DELAY_SEGMENT_TABLE_H
