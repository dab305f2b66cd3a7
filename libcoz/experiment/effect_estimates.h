// What the windows so far say about large targets' effects, as each window ends: enough to decide
// where the next ones go. (`coz report` estimates effects anew from the profile, with all
// corrections.)
//
// A window's period, the mean effective time between visits of a throughput point, is
//
//   p = B · (1 − Σ a·s·(c + u)) · noise
//
// over the targets that are sped up, by s, with a their shares of the time. B: baseline of the
// block, which drifts; c: what a share saves on average; u: by how much a target differs, for those
// that were ever a main target or that companions do not cover. Of the others, c alone is followed.
// A Kalman filter (R. E. Kalman 1960) holds log B, c and all u with their covariance, and learns
// the variance of the noise from what it did not foresee. Windows far off count less.
//
// One thread; allocates. Speedups and effects are fractions.
#ifndef LIBCOZ_EXPERIMENT_EFFECT_ESTIMATES_H
#define LIBCOZ_EXPERIMENT_EFFECT_ESTIMATES_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace coz {

// A target that was sped up in a window.
struct SpedUp {
  std::uint32_t target;
  double share;
  double speedup;
};

// Of a target whose speed is doubled.
struct EffectEstimate {
  double mean;
  double error;        // standard deviation
  double after_block;  // the same, after another block on the target
};

class EffectEstimates {
 public:
  // Effects are estimated at this speedup.
  static constexpr double kSpeedup = 0.5;
  static constexpr std::size_t kMaxFollowed = 64;

  // The target's own u is followed from now on. False if there are too many.
  bool follow(std::uint32_t target);

  // A window has ended: the first of its block, or another one.
  void observe(double period, bool begins_block, std::span<const SpedUp> sped_up);

  std::size_t windows() const noexcept { return windows_; }
  // Of a target that is followed; others are taken for the average.
  EffectEstimate of(std::uint32_t target, double share) const;
  // Of the difference between two targets that are followed: its standard deviation.
  double error_between(std::uint32_t a, double share_a, std::uint32_t b, double share_b) const;

 private:
  // Places in the state.
  static constexpr std::size_t kLogBaseline = 0;
  static constexpr std::size_t kMeanSaving = 1;
  static constexpr std::size_t kFirstTarget = 2;

  std::size_t place_of(std::uint32_t target) const noexcept;  // 0: not followed
  double& covariance(std::size_t i, std::size_t j) noexcept { return covariance_[i * kRow + j]; }
  double covariance(std::size_t i, std::size_t j) const noexcept {
    return covariance_[i * kRow + j];
  }
  double saving_covariance(std::size_t a, std::size_t b) const noexcept;
  void begin(double log_period);
  void update(double residual, std::span<const double> gradient, double bend);

  static constexpr std::size_t kRow = kFirstTarget + kMaxFollowed;
  std::vector<std::uint32_t> targets_;  // that are followed, by place − kFirstTarget
  std::vector<double> mean_;
  std::vector<double> covariance_;
  double noise_ = 0;  // variance
  std::size_t windows_ = 0;
};

}  // namespace coz

#endif  // LIBCOZ_EXPERIMENT_EFFECT_ESTIMATES_H
