// Spreads the charge of a sample over the next runs of the same code segment.
//
// A sample in the selected target says that the thread has been there for a whole period P, in all
// that it ran since the last sample. To charge that at once would be wrong where threads meet
// several times in a period: one meeting would get all of the delay and the others none, and a
// thread pushed far ahead of the others at once must then wait for them, and loses its gain. A
// target that is really faster gains a little each time (docs/decisions/charge_smoothing.md).
//
// So what a thread runs is divided into *code segments*, each from one call that can block or wake
// to the next, identified by the return address of the first call, and by the kind of run
// (segment_table.h). A sample in the target adds P to the bucket of the run, whose kind shows when
// it ends. While the thread runs through such a segment, now and later, the bucket decays: in a
// time t it loses the share t/(τ + t), which is charged when the run ends. On average exactly what
// was sampled is charged, whatever τ is and however the clock is disturbed. In segments that
// usually last for several periods samples need no smoothing: they are charged at once.
//
// In combined windows several targets are selected, and a bucket holds the line time of all of
// them; its mix (charge_mix.h) says what that costs. Mixes are the caller's: `mixes` has one for
// each bucket, or is nullptr where windows have one target at a time, whose delay the caller knows.
//
// Of short segments only some runs are observed (current_run.h).
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
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/clock.h"
#include "delay/charge_mix.h"
#include "delay/current_run.h"
#include "delay/decay.h"
#include "delay/segment_table.h"
#include "delay/young_charges.h"
#include "target/selection.h"

namespace coz {

class ChargeSmoother {
 public:
  static constexpr std::size_t kBuckets = std::size_t{kSegments} * kKinds;

  // τ, in sampling periods.
  static constexpr Nanoseconds kScalePeriods = 8;
  // A thread is young until it has had so many samples.
  static constexpr std::int32_t kSamplesOfYouth = 8;

  // What is to be charged: time in selected targets, and what a period of it costs if mixes tell.
  struct Charge {
    Nanoseconds line_time = 0;
    Nanoseconds delay = 0;
  };

  // A new thread takes it over.
  void reset() noexcept {
    clear();
    young_ = nullptr;
    run_.reset();
  }

  // The thread begins to live, in a code segment that all threads of its kind begin with.
  void begin_young(YoungCharges& shared, std::uintptr_t kind) noexcept {
    young_ = &shared;
    youth_ = kSamplesOfYouth;
    enter(kind);
  }
  // The shared bucket of a segment, or of a kind of threads.
  static std::uint32_t young_bucket(std::uintptr_t site) noexcept {
    return static_cast<std::uint32_t>(SegmentTable::hash(site) % YoungCharges::kBuckets);
  }
  bool is_young() const noexcept { return young_ != nullptr; }

  // The thread goes on after a call that it made at `site`. Returns !is_idle().
  bool begin_segment(std::uintptr_t site) noexcept {
    run_.end(segment());
    return enter(site);
  }
  // True if the current segment has nothing left to charge, or if this run of it is not observed.
  bool is_idle() const noexcept { return run_.is_idle(segment()); }

  // From now on time counts for the current segment.
  void resume_segment(Nanoseconds now) noexcept { run_.resume(now); }

  // A sample in a selected target, or in none of them: nullopt.
  void sample(const std::optional<SelectedTarget>& target, Nanoseconds period, Nanoseconds now,
              ChargeMix* mixes = nullptr) noexcept {
    run_.count_sample(segment());
    if (young_ != nullptr && youth_-- == 0) grow_up();
    if (!target) return;
    run_.observe(segment(), now);
    segment().line_time += period;
    if (young_ != nullptr) {
      young_->add(shared_, period);
      put(SegmentTable::first_bucket(current_), *target, period, mixes);
    } else {
      if (hits_ == kMaxHits || hit_segment_ != current_) {
        put_hits(table_.fullest(hit_segment_), period,
                 mixes);  // nothing tells of which kind they are
      }
      hit_segment_ = current_;
      hit_[hits_++] = *target;
    }
  }

  // Other targets are selected, or the same with other delays: `delay_of` says that of a target, if
  // it is selected. What is left of others is dropped.
  template <typename DelayOf>
  void reselect(ChargeMix* mixes, Nanoseconds period, DelayOf delay_of) noexcept {
    for (std::uint32_t s = 0; s < kSegments; ++s) {
      Segment& segment = table_.segment(s);
      if (segment.line_time == 0) continue;
      segment.line_time = 0;
      for (std::uint32_t k = table_.first_bucket(s); k < table_.end_of_buckets(s); ++k) {
        Bucket& bucket = table_.bucket(k);
        if (bucket.line_time != 0) {
          bucket.line_time = mixes[k].reselect(bucket.line_time, delay_of);
        }
        segment.line_time += bucket.line_time;
      }
      if (s != current_ && segment.line_time == 0) segment.empty();
    }
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < hits_; ++i) {
      if (const auto delay = delay_of(hit_[i].target)) hit_[kept++] = {hit_[i].target, *delay};
    }
    hits_ = kept;
    table_.segment(hit_segment_).line_time += hits_ * period;
  }

  // What the thread is about to be charged in this run if it goes on; `delay`: of a period, without
  // mixes. If its samples don't tell what runs, the kind of run that is charged least counts: G,
  // once raised, does not fall.
  struct Expected {
    Decay decay;
    Nanoseconds delay = 0;
  };
  Expected expected(Nanoseconds period, Nanoseconds delay, const ChargeMix* mixes) const noexcept {
    const std::uint32_t first = SegmentTable::first_bucket(current_);
    const std::uint32_t end = table_.end_of_buckets(current_);
    const std::uint32_t hits = hit_segment_ == current_ ? hits_ : 0;
    const bool is_one = young_ != nullptr || end == first + 1;
    const std::uint32_t kind = is_one ? first : expected_kind(hits > 0);
    Nanoseconds line_time = hits * period, cost = 0;  // times the period
    for (std::uint32_t i = 0; i < hits; ++i) cost += hit_[i].delay * period;
    for (std::uint32_t i = first; i < end; ++i) {
      if (!table_.drains(kind, i)) continue;
      const Nanoseconds part = table_.bucket(i).line_time;
      line_time += part;
      if (mixes != nullptr) cost += part * mixes[i].delay();
    }
    if (line_time == 0) return {};
    const Nanoseconds scale = std::clamp(table_.ran_of(kind), period, kScalePeriods * period);
    return {{run_.discharged_until(), line_time, scale},
            mixes == nullptr ? delay : cost / line_time};
  }

  // Between two calls: what is to be charged at once. The time since resume_segment() counts for
  // the run, which goes on.
  Charge discharge_meanwhile(Nanoseconds period, Nanoseconds now, ChargeMix* mixes) noexcept {
    if (young_ != nullptr) return discharge(period, now, 0, mixes);
    run_.count_time(now);
    const std::uint32_t hits = hit_segment_ == current_ && run_.is_long(segment()) ? hits_ : 0;
    if (hits == 0) return {};
    const Nanoseconds line_time = hits * period;
    Nanoseconds delays = 0;
    for (std::uint32_t i = 0; i < hits; ++i) delays += hit_[i].delay;
    const Charge charge{line_time, delays / hits};
    hits_ = 0;
    segment().line_time -= line_time;
    return charge;
  }

  // A call, which returns to `end`, ends the run: what is to be charged for it.
  Charge discharge(Nanoseconds period, Nanoseconds now, std::uintptr_t end,
                   ChargeMix* mixes) noexcept {
    run_.count_time(now);
    const std::uint32_t first = SegmentTable::first_bucket(current_);
    const std::uint32_t found = young_ != nullptr ? first : place(end, period, mixes);
    const bool is_long = run_.is_long(segment()) && young_ == nullptr;
    const Nanoseconds ran = run_.discharge(segment());
    Charge charge;
    const Nanoseconds ran_before = table_.ran_of(found);
    const Nanoseconds scale = std::clamp(ran_before, period, kScalePeriods * period);
    for (std::uint32_t i = first; i < table_.end_of_buckets(current_); ++i) {
      if (!table_.drains(found, i)) continue;
      Bucket& bucket = table_.bucket(i);
      const Nanoseconds part = take(bucket, scale, ran, is_long);
      // A new bucket decays fast at first, so that it soon charges as much as it gets.
      bucket.ran = std::min(ran_before + ran, kScalePeriods * period);
      charge.line_time += part;
      if (mixes != nullptr) charge.delay += part * mixes[i].delay();
    }
    if (charge.line_time != 0) charge.delay /= charge.line_time;
    segment().line_time -= charge.line_time;
    if (run_.is_whole()) table_.ran(current_, found, ran);
    if (young_ != nullptr) young_->take(shared_, charge.line_time, ran);
    return charge;
  }

  // Takes all that is left in buckets of the thread's own; for its end. `take` gets the line time
  // of each, and its mix, if there are mixes.
  template <typename Take>
  void discharge_all(ChargeMix* mixes, Nanoseconds period, Take take) noexcept {
    if (young_ == nullptr) {
      put_hits(table_.fullest(hit_segment_), period, mixes);
      for (std::uint32_t i = 0; i < kBuckets; ++i) {
        const Nanoseconds left = table_.bucket(i).line_time;
        if (left != 0) take(left, mixes == nullptr ? nullptr : &mixes[i]);
      }
    }
    clear();
  }

  void clear() noexcept {
    table_.clear();
    hits_ = 0;
  }
  // Samples in this target follow, in companions few. If it is another one, nothing is known of
  // which runs have them.
  void follow_main(std::uint32_t target) noexcept {
    if (target != main_) table_.forget_hits();
    main_ = target;
  }

 private:
  static constexpr Nanoseconds kMinLeft = 2 * kMicrosecond;
  static constexpr std::uint32_t kMaxHits = CurrentRun::kSamplesOfOne;
  // Kinds of runs that differ by less in what they are charged do the same.
  static constexpr Nanoseconds kAlike = 4;

  Segment& segment() noexcept { return table_.segment(current_); }
  const Segment& segment() const noexcept { return table_.segment(current_); }

  // The handler may let the thread grow up at any time. Then what is taken over here is dropped,
  // and so is the sample that came meanwhile.
  [[gnu::noinline]] void take_over_shared(std::uintptr_t site) noexcept {
    YoungCharges* const young = young_;
    if (young == nullptr) return;
    shared_ = young_bucket(site);
    Bucket& bucket = table_.bucket(SegmentTable::first_bucket(current_));
    segment().line_time = bucket.line_time = young->line_time(shared_);
    bucket.ran = young->ran(shared_);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (!is_young()) clear();
  }

  bool enter(std::uintptr_t site) noexcept {
    const std::uint32_t entered = table_.find(site);
    current_ = entered;
    if (young_ != nullptr) take_over_shared(site);
    return run_.begin(table_.segment(entered));
  }

  std::uint32_t expected_kind(bool has_hits) const noexcept {
    const std::uint32_t least = table_.emptiest(current_);
    const std::uint32_t most = table_.fullest(current_);
    const bool are_alike = table_.line_time_of(most) <= kAlike * table_.line_time_of(least);
    return has_hits || are_alike ? most : least;
  }

  // What a bucket loses in a time of its segment.
  static Nanoseconds take(Bucket& bucket, Nanoseconds scale, Nanoseconds ran,
                          bool is_long) noexcept {
    Nanoseconds part = Decay{0, bucket.line_time, scale}.by(ran);
    if (is_long || bucket.line_time - part < kMinLeft) part = bucket.line_time;
    bucket.line_time -= part;
    return part;
  }

  // The run ends: its samples go into the bucket of its kind, which is returned.
  std::uint32_t place(std::uintptr_t end, Nanoseconds period, ChargeMix* mixes) noexcept {
    const std::uint32_t found = table_.find_kind(current_, {end, run_.length(), run_.is_whole()});
    if (hit_segment_ != current_) {
      put_hits(table_.fullest(hit_segment_), period, mixes);
    } else {
      if (run_.is_whole()) table_.bucket(found).hits += hits_;
      put_hits(found, period, mixes);
    }
    return found;
  }

  void put_hits(std::uint32_t index, Nanoseconds period, ChargeMix* mixes) noexcept {
    for (std::uint32_t i = 0; i < hits_; ++i) put(index, hit_[i], period, mixes);
    hits_ = 0;
  }

  void put(std::uint32_t index, const SelectedTarget& hit, Nanoseconds period,
           ChargeMix* mixes) noexcept {
    Bucket& bucket = table_.bucket(index);
    if (mixes != nullptr) mixes[index].add(hit, bucket.line_time, period);
    bucket.line_time += period;
  }

  // From now on the thread has buckets of its own. What is in the shared ones is left there.
  void grow_up() noexcept {
    young_ = nullptr;
    clear();
  }

  // Every call uses the first three.
  YoungCharges* young_ = nullptr;  // while the thread is young
  std::uint32_t current_ = 0;      // segment
  CurrentRun run_;
  std::uint32_t shared_ = 0;  // the bucket of young threads
  std::int32_t youth_ = 0;    // samples left
  std::uint32_t main_ = kNoTarget;
  SegmentTable table_;
  // Samples in selected targets that no bucket has yet.
  std::uint32_t hits_ = 0;
  std::uint32_t hit_segment_ = 0;  // theirs: another one if that run was not discharged
  std::array<SelectedTarget, kMaxHits> hit_{};
};

}  // namespace coz

#endif  // LIBCOZ_DELAY_CHARGE_SMOOTHER_H
