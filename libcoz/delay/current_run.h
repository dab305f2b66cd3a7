// The run of a code segment that a thread is in: its samples, its time, and whether it is observed.
//
// Of segments that last a few hundred nanoseconds only one in k on average is observed, and counts
// k times: reading the clock at each would take longer than they do. Which one is left to chance,
// since runs may differ in turns: where a thread joins two others, the first is waited for, and the
// second has often ended.
//
// Nearly every call of a wrapper ends a run and begins another. Most have nothing to charge and no
// sample; then begin() and end() do next to nothing.
//
// One thread owns it; its signal handler may interrupt begin() and end(), and a sample that comes
// meanwhile may be missing from the mean. Time is handed in. Nothing allocates, locks or fails.
#ifndef LIBCOZ_DELAY_CURRENT_RUN_H
#define LIBCOZ_DELAY_CURRENT_RUN_H

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "common/clock.h"
#include "delay/segment_table.h"

namespace coz {

class CurrentRun {
 public:
  // A code segment is long if its runs have kSamplesOfLong samples on average, until they have less
  // than kSamplesOfShort: it should not change often. With fewer samples, charges at once differ so
  // much between threads that share a round that all wait for the largest. A single run with
  // kSamplesOfOne samples is long, too. In fixed point, since a floating-point mean would end up
  // among the subnormal numbers, which are slow.
  static constexpr std::int32_t kOneSample = 4096;
  static constexpr std::int32_t kSamplesOfLong = 6 * kOneSample;
  static constexpr std::int32_t kSamplesOfShort = 3 * kOneSample;
  static constexpr std::int32_t kSamplesOfOne = 9;

  // A run of `segment` begins. Returns !is_idle(): then resume() follows.
  bool begin(Segment& segment) noexcept {
    // The mean number of samples must fall in runs without any, too.
    if (is_active() || segment.samples >= kMeanOver) return begin_active(segment);
    state_ = State::kFresh;
    std::atomic_signal_fence(std::memory_order_seq_cst);  // a sample before it is seen after it
    if (segment.line_time == 0) return false;
    const std::uint16_t skip = segment.skip;  // a sample may set it to 0 meanwhile
    if (skip == 0) return begin_active(segment);
    segment.skip = static_cast<std::uint16_t>(skip - 1);
    is_observed_ = false;
    state_ = State::kSkipped;
    return false;
  }

  void end(Segment& segment) noexcept {
    if (is_active()) end_active(segment);
  }

  // Nothing is counted yet.
  void reset() noexcept {
    samples_ = 0;
    ran_ = undischarged_ = 0;
    is_resumed_ = is_whole_ = false;
    state_ = State::kFresh;
  }

  // True if the segment has nothing left to charge, or if this run of it is not observed.
  bool is_idle(const Segment& segment) const noexcept {
    return !is_active() || segment.line_time == 0 || !is_observed_;
  }
  bool is_long(const Segment& segment) const noexcept {
    return segment.is_long || samples_ >= kSamplesOfOne;
  }

  // From now on time counts.
  void resume(Nanoseconds now) noexcept {
    since_ = now;
    if (!is_resumed_) is_resumed_ = is_whole_ = true;
  }

  // Also decides whether the run is observed, if nothing has yet.
  void count_sample(const Segment& segment) noexcept {
    activate(segment);
    samples_ = std::min(samples_ + 1, kSamplesCounted);
  }
  // That sample is in a selected target: the run may prove long, and only observed ones are
  // discharged.
  void observe(const Segment& segment, Nanoseconds now) noexcept {
    if (is_idle(segment)) {
      since_ = now;
      is_resumed_ = true;
    }
    if (is_observed_) return;
    is_observed_ = true;
    weight_ = 1;
    run_before_ = segment.run;
  }

  void count_time(Nanoseconds now) noexcept {
    const Nanoseconds ran = std::max<Nanoseconds>(0, now - since_);
    ran_ += ran;
    undischarged_ += ran;
    since_ = now;
  }

  // It is discharged. Returns how long it and those that it stands for have run since the last
  // time; in `segment`, says which run is observed next.
  Nanoseconds discharge(Segment& segment) noexcept {
    const Nanoseconds ran = undischarged_ * weight_;
    undischarged_ = 0;
    segment.run = run_before_ == 0 ? ran_ : run_before_ + (ran_ - run_before_) / kMeanOfRuns;
    const Nanoseconds every = kLookEvery / std::max<Nanoseconds>(segment.run, 1);
    segment.every = static_cast<std::uint16_t>(std::clamp<Nanoseconds>(every, 1, kMaxSkipped));
    segment.skip = draw_skip(segment.every);
    weight_ = 1;  // in case the segment goes on
    return ran;
  }

  Nanoseconds length() const noexcept { return ran_; }
  bool is_whole() const noexcept { return is_whole_; }
  // Up to when it has been discharged.
  Nanoseconds discharged_until() const noexcept { return since_ - undischarged_; }

 private:
  // A short segment is observed about once in this much of its own running time. No pause is
  // shorter (kMinPause), so that observing it more often would not make pauses more exact.
  static constexpr Nanoseconds kLookEvery = 20 * kMicrosecond;
  static constexpr Nanoseconds kMaxSkipped = 500;
  static constexpr std::int32_t kSamplesCounted = 1000;
  static constexpr std::int32_t kMeanOver = 16;  // code segments
  static constexpr Nanoseconds kMeanOfRuns = 4;

  bool is_active() const noexcept { return state_ == State::kActive; }

  [[gnu::noinline]] bool begin_active(Segment& segment) noexcept {
    reset();
    activate(segment);
    const std::uint16_t skip = segment.skip;
    if (skip != 0 && segment.line_time != 0) segment.skip = static_cast<std::uint16_t>(skip - 1);
    return !is_idle(segment);
  }

  [[gnu::noinline]] void end_active(Segment& segment) noexcept {
    segment.samples += (samples_ * kOneSample - segment.samples) / kMeanOver;
    if (segment.samples >= kSamplesOfLong) segment.is_long = true;
    if (segment.samples < kSamplesOfShort) segment.is_long = false;
    reset();
  }

  void activate(const Segment& segment) noexcept {
    if (state_ == State::kFresh) {
      is_observed_ = segment.skip == 0;
      weight_ = segment.every;
      run_before_ = segment.run;
    }
    state_ = State::kActive;
  }

  // `every` − 1 on average.
  std::uint16_t draw_skip(std::uint16_t every) noexcept {
    random_ = random_ * 1664525 + 1013904223;
    const std::uint32_t values = 2U * every - 1;
    return static_cast<std::uint16_t>((random_ >> 16) * values >> 16);
  }

  // kFresh: it has nothing to charge yet, and whether it is observed is not decided. kSkipped: it
  // is not. kActive: it has had a sample, or is observed, or the mean of its segment must fall. In
  // the others the rest is as reset() leaves it.
  enum class State : std::uint8_t { kFresh, kSkipped, kActive };
  State state_ = State::kFresh;
  bool is_observed_ = true;
  bool is_resumed_ = false;
  bool is_whole_ = false;  // it has been timed from its beginning
  std::int32_t samples_ = 0;
  Nanoseconds since_ = 0;
  Nanoseconds ran_ = 0;           // how long it has lasted,
  Nanoseconds undischarged_ = 0;  // and since it was last discharged
  Nanoseconds run_before_ = 0;    // the mean before it
  Nanoseconds weight_ = 1;        // how many runs it stands for
  std::uint32_t random_ = 1;
};

}  // namespace coz

#endif  // LIBCOZ_DELAY_CURRENT_RUN_H
