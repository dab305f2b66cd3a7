// Which targets the line time in a bucket is of (charge_smoother.h), and what it costs on average:
// for combined windows, in which several targets are selected, each with a delay of its own.
//
// A bucket keeps what was sampled in earlier windows, and decays as slowly as its code segment
// runs. If it held delays, a window would be charged those of the windows before. So it holds line
// time, and this says which targets that is of: a new window charges it as it has drawn them. As a
// bucket decays, the shares of its targets stay as they are, so that only samples change the mix.
//
// When there is no room for another target, the new one and the smallest one are made one of the
// two, chosen at random in proportion to their time: on average each is charged what was sampled.
//
// One thread owns it. Zeroed memory is an empty mix. Nothing allocates, locks or fails;
// signal-safe.
#ifndef LIBCOZ_DELAY_CHARGE_MIX_H
#define LIBCOZ_DELAY_CHARGE_MIX_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/clock.h"
#include "target/selection.h"

namespace coz {

class ChargeMix {
 public:
  static constexpr std::size_t kMaxTargets = 16;

  // What a period of the line time costs on average.
  Nanoseconds delay() const noexcept { return delay_; }

  // A period in `added` comes to a bucket that holds `line_time`.
  void add(const SelectedTarget& added, Nanoseconds line_time, Nanoseconds period) noexcept {
    if (line_time < period / kNegligible) count_ = sum_ = 0;
    while (sum_ > kMaxSum) halve();
    // As much more than the weights so far as a period is more than the line time so far.
    const std::uint32_t weight =
        sum_ == 0 ? kFirstWeight
                  : static_cast<std::uint32_t>(sum_ * static_cast<std::uint64_t>(period) /
                                               static_cast<std::uint64_t>(line_time));
    enter(added, weight);
    sum_ += weight;
    average();
  }

  // Takes the delays of a new selection; `delay_of` says that of a target, if it is selected.
  // Returns the part of `line_time` that is in selected targets; the rest leaves the mix.
  template <typename DelayOf>
  Nanoseconds reselect(Nanoseconds line_time, DelayOf delay_of) noexcept {
    const std::uint32_t before = sum_;
    std::uint32_t kept = 0;
    sum_ = 0;
    for (std::uint32_t i = 0; i < count_; ++i) {
      const std::optional<Nanoseconds> delay = delay_of(shares_[i].target);
      if (!delay) continue;
      shares_[kept] = shares_[i];
      shares_[kept].delay = static_cast<std::uint32_t>(*delay);
      sum_ += shares_[kept].weight;
      ++kept;
    }
    count_ = kept;
    average();
    if (sum_ == before) return line_time;
    __extension__ using Wide = __int128;
    return static_cast<Nanoseconds>(static_cast<Wide>(line_time) * sum_ / before);
  }

 private:
  // Weights are kept small enough that another one, up to kNegligible times all so far, fits in 32
  // bits.
  static constexpr std::uint32_t kFirstWeight = 1U << 16;
  static constexpr std::uint32_t kMaxSum = 1U << 21;
  static constexpr Nanoseconds kNegligible = 1024;

  struct Share {
    std::uint32_t target;
    std::uint32_t weight;
    std::uint32_t delay;
  };

  void enter(const SelectedTarget& added, std::uint32_t weight) noexcept {
    const auto delay = static_cast<std::uint32_t>(added.delay);
    std::uint32_t smallest = 0;
    for (std::uint32_t i = 0; i < count_; ++i) {
      if (shares_[i].target == added.target) {
        shares_[i].weight += weight;
        return;
      }
      if (shares_[i].weight < shares_[smallest].weight) smallest = i;
    }
    if (count_ < kMaxTargets) {
      shares_[count_++] = {added.target, weight, delay};
      return;
    }
    Share& merged = shares_[smallest];
    merged.weight += weight;
    const std::uint64_t drawn = std::uint64_t{next_random()} * merged.weight >> 32;
    if (drawn < weight) merged = {added.target, merged.weight, delay};
  }

  void halve() noexcept {
    std::uint32_t kept = 0;
    sum_ = 0;
    for (std::uint32_t i = 0; i < count_; ++i) {
      shares_[i].weight /= 2;
      if (shares_[i].weight == 0) continue;
      sum_ += shares_[i].weight;
      shares_[kept++] = shares_[i];
    }
    count_ = kept;
  }

  void average() noexcept {
    std::uint64_t all = 0;
    for (std::uint32_t i = 0; i < count_; ++i) {
      all += std::uint64_t{shares_[i].weight} * shares_[i].delay;
    }
    delay_ = sum_ == 0 ? 0 : static_cast<Nanoseconds>(all / sum_);
  }

  // Xorshift (Marsaglia 2003).
  std::uint32_t next_random() noexcept {
    random_ = random_ == 0 ? 2463534242U : random_;
    random_ ^= random_ << 13;
    random_ ^= random_ >> 17;
    random_ ^= random_ << 5;
    return random_;
  }

  std::array<Share, kMaxTargets> shares_;
  std::uint32_t count_;
  std::uint32_t sum_;  // of the weights
  std::uint32_t random_;
  Nanoseconds delay_;
};

}  // namespace coz

#endif  // LIBCOZ_DELAY_CHARGE_MIX_H
