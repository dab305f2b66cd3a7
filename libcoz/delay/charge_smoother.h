// Spreads the charge of a sample over the next runs of the same code segment.
//
// A sample in the selected target says that the thread has been there for a whole period P, in all
// that it ran since the last sample. To charge that at once would be wrong where threads meet
// several times in a period: one meeting would get all of the delay and the others none, and a
// thread pushed far ahead of the others at once must then wait for them, and loses its gain. A
// target that is really faster gains a little each time (docs/decisions/charge_smoothing.md).
//
// So what a thread runs is divided into *code segments*, each from one call that can block or wake
// to the next, identified by the return address of the first call. A sample in the target adds P to
// the bucket of its segment. While the thread runs through that segment, now and later, the bucket
// decays: in a time t it loses the share t/(τ + t), which is charged. On average exactly what was
// sampled is charged, whatever τ is and however the clock is disturbed. Segments that usually last
// for several periods need no smoothing: their buckets are charged at once.
//
// In combined windows several targets are selected, and a bucket holds the line time of all of
// them; its mix (charge_mix.h) says what that costs. Mixes are the caller's: `mixes` has one for
// each bucket, or is nullptr where windows have one target at a time, whose delay the caller knows.
//
// Of segments that last a few hundred nanoseconds only one in k on average is observed, and counts
// k times: reading the clock at each would take longer than they do. Which one is left to chance,
// since runs may differ in turns: where a thread joins two others, the first is waited for, and the
// second has often ended.
//
// A thread that lives short has no next runs. While it is young, its buckets are those that all
// young threads share (young_charges.h), and their charges are always smoothed. They hold one
// target, so that young threads have buckets of their own where windows are combined.
//
// One thread owns it; its signal handler and its wrappers exclude each other (DelayState::busy).
// The handler may interrupt only `begin_segment` and `is_idle`. Time is handed in. Nothing
// allocates, locks or fails.
#ifndef LIBCOZ_DELAY_CHARGE_SMOOTHER_H
#define LIBCOZ_DELAY_CHARGE_SMOOTHER_H

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/clock.h"
#include "delay/charge_mix.h"
#include "delay/young_charges.h"
#include "target/selection.h"

namespace coz {

// How a bucket of `line_time` decays: in a time t it loses line_time · t/(scale + t).
struct Decay {
  Nanoseconds since = 0;
  Nanoseconds line_time = 0;
  Nanoseconds scale = 0;

  // In whole numbers: the program may have turned inexact results into a signal (feenableexcept).
  Nanoseconds by(Nanoseconds now) const noexcept {
    __extension__ using Wide = __int128;
    const Nanoseconds ran = now - since;
    if (ran <= 0) return 0;
    return static_cast<Nanoseconds>(static_cast<Wide>(line_time) * ran / (scale + ran));
  }
};

class ChargeSmoother {
 public:
  static constexpr std::size_t kBuckets = 32;

  // τ, in sampling periods.
  static constexpr Nanoseconds kScalePeriods = 8;
  // A code segment is long if its runs have kSamplesOfLong samples on average, until they have less
  // than kSamplesOfShort: it should not change often. A single run with kSamplesOfOne samples is
  // long, too. In fixed point, since a floating-point mean would end up among the subnormal
  // numbers, which are slow.
  static constexpr std::int32_t kOneSample = 4096;
  static constexpr std::int32_t kSamplesOfLong = 2 * kOneSample;
  static constexpr std::int32_t kSamplesOfShort = 1 * kOneSample;
  static constexpr std::int32_t kSamplesOfOne = 6;
  // A thread is young until it has had so many samples.
  static constexpr std::int32_t kSamplesOfYouth = 8;

  // A new thread takes it over.
  void reset() noexcept {
    clear();
    young_ = nullptr;
    samples_ = 0;
  }

  // The thread begins to live, in a code segment that all threads of its kind begin with.
  void begin_young(YoungCharges& shared, std::uintptr_t kind) noexcept {
    young_ = &shared;
    youth_ = kSamplesOfYouth;
    enter(kind);
  }
  // The shared bucket of a segment, or of a kind of threads.
  static std::uint32_t young_bucket(std::uintptr_t site) noexcept {
    return static_cast<std::uint32_t>(hash(site) % YoungCharges::kBuckets);
  }
  bool is_young() const noexcept { return young_ != nullptr; }

  // The thread goes on after a call that it made at `site`.
  void begin_segment(std::uintptr_t site) noexcept {
    Bucket& ended = buckets_[current_];
    if (samples_ != 0 || ended.samples >= kMeanOver) {
      ended.samples += (samples_ * kOneSample - ended.samples) / kMeanOver;
      if (ended.samples >= kSamplesOfLong) ended.is_long = true;
      if (ended.samples < kSamplesOfShort) ended.is_long = false;
    }
    enter(site);
  }
  // True if the current segment has nothing left to charge, or if this run of it is not observed.
  bool is_idle() const noexcept { return buckets_[current_].line_time == 0 || !is_observed_; }

  // From now on time counts for the current segment.
  void resume_segment(Nanoseconds now) noexcept { since_ = now; }

  // A sample in a selected target, or in none of them: nullopt.
  void sample(const std::optional<SelectedTarget>& target, Nanoseconds period, Nanoseconds now,
              ChargeMix* mixes = nullptr) noexcept {
    samples_ = std::min(samples_ + 1, kSamplesCounted);
    if (young_ != nullptr && youth_-- == 0) grow_up();
    if (!target) return;
    if (is_idle()) since_ = now;
    if (!is_observed_) {
      // This run may prove long; only observed runs are discharged.
      is_observed_ = true;
      weight_ = 1;
      run_before_ = buckets_[current_].run;
    }
    if (mixes != nullptr) mixes[current_].add(*target, buckets_[current_].line_time, period);
    buckets_[current_].line_time += period;
    if (young_ != nullptr) young_->add(shared_, period);
  }

  // What a period of the current segment's line time costs.
  Nanoseconds delay(const ChargeMix* mixes) const noexcept { return mixes[current_].delay(); }

  // Other targets are selected, or the same with other delays: `delay_of` says that of a target, if
  // it is selected. What is left of others is dropped.
  template <typename DelayOf>
  void reselect(ChargeMix* mixes, DelayOf delay_of) noexcept {
    for (std::size_t i = 0; i < kBuckets; ++i) {
      Bucket& bucket = buckets_[i];
      if (bucket.line_time == 0) continue;
      bucket.line_time = mixes[i].reselect(bucket.line_time, delay_of);
      if (bucket.line_time == 0) bucket.empty();
    }
  }

  // How the current bucket decays if the thread goes on.
  Decay decay(Nanoseconds period) const noexcept {
    const Bucket& bucket = buckets_[current_];
    return {since_, bucket.line_time, std::clamp(bucket.ran, period, kScalePeriods * period)};
  }

  // Returns the time in the target to charge for what the thread has run since resume_segment().
  Nanoseconds discharge(Nanoseconds period, Nanoseconds now) noexcept {
    Bucket& bucket = buckets_[current_];
    const Nanoseconds ran = std::max<Nanoseconds>(0, now - since_);
    Decay whole = decay(period);
    whole.since = now - ran * weight_;
    Nanoseconds part = whole.by(now);
    const bool is_long = bucket.is_long || samples_ >= kSamplesOfOne;
    if ((is_long && young_ == nullptr) || bucket.line_time - part < kMinLeft)
      part = bucket.line_time;
    bucket.line_time -= part;
    if (young_ != nullptr) young_->take(shared_, part, ran * weight_);
    // A new bucket decays fast at first, so that it soon charges as much as it gets.
    bucket.ran = std::min(bucket.ran + ran * weight_, kScalePeriods * period);
    ran_ += ran;
    bucket.run = run_before_ == 0 ? ran_ : run_before_ + (ran_ - run_before_) / kMeanOfRuns;
    const Nanoseconds every = kLookEvery / std::max<Nanoseconds>(bucket.run, 1);
    bucket.every = static_cast<std::uint16_t>(std::clamp<Nanoseconds>(every, 1, kMaxSkipped));
    bucket.skip = draw_skip(bucket.every);
    since_ = now;
    weight_ = 1;  // in case the segment goes on
    return part;
  }

  // Takes all that is left in buckets of the thread's own; for its end. `take` gets the line time
  // of each, and its mix, if there are mixes.
  template <typename Take>
  void discharge_all(const ChargeMix* mixes, Take take) noexcept {
    for (std::size_t i = 0; i < kBuckets && young_ == nullptr; ++i) {
      if (buckets_[i].line_time != 0) {
        take(buckets_[i].line_time, mixes == nullptr ? nullptr : &mixes[i]);
      }
    }
    clear();
  }

  void clear() noexcept {
    for (Bucket& bucket : buckets_) bucket.empty();
  }

 private:
  static constexpr Nanoseconds kMinLeft = 2 * kMicrosecond;
  // A short segment is observed about once in this much of its own running time. No pause is
  // shorter (kMinPause), so that observing it more often would not make pauses more exact.
  static constexpr Nanoseconds kLookEvery = 20 * kMicrosecond;
  static constexpr Nanoseconds kMaxSkipped = 500;
  static constexpr std::int32_t kSamplesCounted = 1000;
  static constexpr std::int32_t kMeanOver = 16;  // code segments
  static constexpr Nanoseconds kMeanOfRuns = 4;
  static constexpr std::uint64_t kTries = 8;
  struct Bucket {
    std::uintptr_t site = 0;  // of its segment; 0: it has none
    Nanoseconds line_time = 0;
    Nanoseconds ran = 0;       // while the bucket was not empty, at most the scale
    Nanoseconds run = 0;       // mean over the last observed runs
    std::int32_t samples = 0;  // mean over the last runs, in units of 1/kOneSample
    bool is_long = false;
    std::uint16_t every = 1;  // one of so many runs is observed, on average;
    std::uint16_t skip = 0;   // the next one after this many

    void empty() noexcept {
      line_time = ran = run = 0;
      skip = 0;
      every = 1;
    }
  };
  // Sites are often a few dozen bytes apart, where a multiplication alone makes neighbours of them.
  static std::uint64_t hash(std::uintptr_t site) noexcept {
    std::uint64_t mixed = site * 0x9e3779b97f4a7c15U;
    mixed ^= mixed >> 29;
    mixed *= 0xbf58476d1ce4e5b9U;
    return mixed >> 32;
  }

  // The bucket of a segment: if it has none, one that none has had, else one that holds no line
  // time. If there is none of these, it shares one, so that no time is lost.
  std::uint32_t find_bucket(std::uintptr_t site) noexcept {
    const std::uint64_t home = hash(site);
    std::uint32_t empty = kBuckets;
    for (std::uint64_t step = 0; step < kTries; ++step) {
      const auto index = static_cast<std::uint32_t>((home + step) % kBuckets);
      const Bucket& bucket = buckets_[index];
      if (bucket.site == site) return index;
      if (bucket.site == 0) {
        empty = index;
        break;
      }
      if (empty == kBuckets && bucket.line_time == 0) empty = index;
    }
    if (empty == kBuckets) return static_cast<std::uint32_t>(home % kBuckets);
    buckets_[empty] = Bucket{};
    buckets_[empty].site = site;
    return empty;
  }

  void enter(std::uintptr_t site) noexcept {
    current_ = find_bucket(site);
    Bucket& bucket = buckets_[current_];
    if (young_ != nullptr) {
      shared_ = young_bucket(site);
      bucket.line_time = young_->line_time(shared_);
      bucket.ran = young_->ran(shared_);
    }
    samples_ = 0;
    ran_ = 0;
    is_observed_ = bucket.skip == 0;
    if (is_observed_) {
      weight_ = bucket.every;
      run_before_ = bucket.run;
    } else if (bucket.line_time != 0) {
      --bucket.skip;
    }
  }

  // `every` − 1 on average.
  std::uint16_t draw_skip(std::uint16_t every) noexcept {
    random_ = random_ * 1664525 + 1013904223;
    const std::uint32_t values = 2U * every - 1;
    return static_cast<std::uint16_t>((random_ >> 16) * values >> 16);
  }

  // From now on the thread has buckets of its own. What is in the shared ones is left there.
  void grow_up() noexcept {
    young_ = nullptr;
    clear();
  }

  std::array<Bucket, kBuckets> buckets_{};
  YoungCharges* young_ = nullptr;  // while the thread is young
  std::int32_t youth_ = 0;         // samples left
  std::uint32_t current_ = 0;
  std::uint32_t shared_ = 0;    // the bucket of young threads
  std::int32_t samples_ = 0;    // in the current segment
  Nanoseconds ran_ = 0;         // in the current segment, as far as it has been discharged
  Nanoseconds run_before_ = 0;  // the mean before it
  std::uint32_t random_ = 1;
  Nanoseconds weight_ = 1;  // how many runs this one stands for
  bool is_observed_ = true;
  Nanoseconds since_ = 0;
};

}  // namespace coz

#endif  // LIBCOZ_DELAY_CHARGE_SMOOTHER_H
