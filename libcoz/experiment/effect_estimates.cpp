#include "experiment/effect_estimates.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace coz {
namespace {

constexpr double square(double x) { return x * x; }

// The prior of c is that of cozcli/analysis/estimate/combined_fit.py. How far targets scatter about
// c, the analysis estimates (it expects 0.25); here it is fixed, and larger.
constexpr double kMeanC = 0.5;
constexpr double kErrorOfC = 0.5;
constexpr double kErrorOfU = 0.4;
// Curves differ from straight lines by this part of a·s.
constexpr double kBend = 0.15;
// Before windows have been seen, and as if seen in so many.
constexpr double kNoise = 0.035;
constexpr double kNoiseStrength = 10;
// Of the noise's variance: what the baseline drifts by from block to block.
constexpr double kDrift = 0.25;
// Residuals beyond so many standard deviations count less.
constexpr double kFar = 2.5;
// Shorter periods are treated as this part of the baseline.
constexpr double kLeast = 0.1;
// Of speedups in a block of the built-in ladder: squares of the distances from their mean.
constexpr double kBlockInformation = 0.92;

}  // namespace

bool EffectEstimates::follow(std::uint32_t target) {
  if (place_of(target) != 0) return true;
  if (targets_.size() == kMaxFollowed) return false;
  targets_.push_back(target);
  const std::size_t place = kFirstTarget + targets_.size() - 1;
  mean_.resize(place + 1, 0.0);
  if (covariance_.empty()) covariance_.assign(kRow * kRow, 0.0);
  covariance(place, place) = square(kErrorOfU);
  return true;
}

std::size_t EffectEstimates::place_of(std::uint32_t target) const noexcept {
  const auto found = std::find(targets_.begin(), targets_.end(), target);
  return found == targets_.end()
             ? 0
             : kFirstTarget + static_cast<std::size_t>(found - targets_.begin());
}

void EffectEstimates::begin(double log_period) {
  if (covariance_.empty()) covariance_.assign(kRow * kRow, 0.0);
  mean_.resize(std::max(mean_.size(), kFirstTarget), 0.0);
  mean_[kLogBaseline] = log_period;
  mean_[kMeanSaving] = kMeanC;
  covariance(kLogBaseline, kLogBaseline) = square(10 * kNoise);
  covariance(kMeanSaving, kMeanSaving) = square(kErrorOfC);
  noise_ = square(kNoise);
}

void EffectEstimates::observe(double period, bool begins_block, std::span<const SpedUp> sped_up) {
  if (period <= 0) return;
  if (windows_ == 0) begin(std::log(period));
  ++windows_;
  if (begins_block) covariance(kLogBaseline, kLogBaseline) += kDrift * noise_;

  std::array<double, kRow> gradient{};
  double saved = 0;
  double bend = 0;
  for (const SpedUp& each : sped_up) {
    const double dose = each.share * each.speedup;
    const std::size_t place = place_of(each.target);
    gradient[kMeanSaving] -= dose;
    if (place != 0) gradient[place] -= dose;
    saved += dose * (mean_[kMeanSaving] + (place != 0 ? mean_[place] : 0.0));
    bend = std::max(bend, kBend * dose);
  }
  const double relative = std::max(1 - saved, kLeast);
  for (double& each : gradient) each /= relative;
  gradient[kLogBaseline] = 1;
  update(std::log(period) - mean_[kLogBaseline] - std::log(relative), gradient, bend / relative);
}

void EffectEstimates::update(double residual, std::span<const double> gradient, double bend) {
  const std::size_t size = mean_.size();
  std::array<double, kRow> gain{};
  double foreseen = 0;
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) gain[i] += covariance(i, j) * gradient[j];
    foreseen += gradient[i] * gain[i];
  }
  const double own = noise_ + square(bend);
  const double distance = std::abs(residual) / std::sqrt(foreseen + own);
  const double total = foreseen + own * std::max(1.0, distance / kFar);
  for (std::size_t i = 0; i < size; ++i) mean_[i] += gain[i] * residual / total;
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) covariance(i, j) -= gain[i] * gain[j] / total;
  }
  // If the noise is as large as believed, the square of `distance` is 1 on average.
  const double seen = square(std::min(distance, kFar));
  noise_ *= 1 + (seen - 1) / (static_cast<double>(windows_) + kNoiseStrength);
}

// Of c + u.
double EffectEstimates::saving_covariance(std::size_t a, std::size_t b) const noexcept {
  if (windows_ == 0) return square(kErrorOfC) + (a == b ? square(kErrorOfU) : 0);
  double sum = covariance(kMeanSaving, kMeanSaving);
  if (a != 0) sum += covariance(kMeanSaving, a);
  if (b != 0) sum += covariance(kMeanSaving, b);
  if (a != 0 && b != 0) return sum + covariance(a, b);
  return a == b ? sum + square(kErrorOfU) : sum;
}

EffectEstimate EffectEstimates::of(std::uint32_t target, double share) const {
  const std::size_t place = place_of(target);
  const double saving =
      windows_ == 0 ? kMeanC : mean_[kMeanSaving] + (place != 0 ? mean_[place] : 0.0);
  const double variance = saving_covariance(place, place);
  const double noise = windows_ == 0 ? square(kNoise) : noise_;
  const double dose = share * kSpeedup;
  const double after = 1 / (1 / variance + kBlockInformation * square(share) / noise);
  return {dose * saving, dose * std::sqrt(variance), dose * std::sqrt(after)};
}

double EffectEstimates::error_between(std::uint32_t a, double share_a, std::uint32_t b,
                                      double share_b) const {
  const std::size_t i = place_of(a);
  const std::size_t j = place_of(b);
  const double variance = square(share_a) * saving_covariance(i, i) +
                          square(share_b) * saving_covariance(j, j) -
                          2 * share_a * share_b * saving_covariance(i, j);
  return kSpeedup * std::sqrt(std::max(variance, 0.0));
}

}  // namespace coz
