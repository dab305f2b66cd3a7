#include "experiment/target_selector.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace coz {
namespace {

// How many draws ahead a target's share counts as owed to it. With fewer the order would hardly be
// random.
constexpr double kDrawsAhead = 2;
// A target that has had its share, or more, keeps this part of its chance.
constexpr double kMinChanceKept = 0.05;

}  // namespace

std::optional<std::uint32_t> TargetSelector::draw(std::span<const TargetSamples> targets,
                                                  Random& random) {
  double all = 0;
  for (const TargetSamples& target : targets) all += static_cast<double>(target.samples);
  if (all <= 0) return std::nullopt;

  std::vector<double> up_to;
  up_to.reserve(targets.size());
  double sum = 0;
  for (const TargetSamples& target : targets) up_to.push_back(sum += chance(target, all));
  const auto found = std::upper_bound(up_to.begin(), up_to.end(), random.fraction() * sum);
  const auto index =
      std::min<std::size_t>(static_cast<std::size_t>(found - up_to.begin()), targets.size() - 1);
  ++drawn_[targets[index].target];
  ++draws_;
  return targets[index].target;
}

double TargetSelector::chance(const TargetSamples& target, double all) const {
  // A lower estimate: at first most targets have a single sample, or none.
  const auto samples = static_cast<double>(target.samples);
  double share = std::max(samples - std::sqrt(samples), 0.1 * samples) / all;
  share =
      share >= kMinShareForFloor ? std::max(share, kFloorShare) : share * share / kMinShareForFloor;
  const auto drawn = drawn_.find(target.target);
  const double had = drawn == drawn_.end() ? 0 : static_cast<double>(drawn->second);
  const double lacks = share * (static_cast<double>(draws_) + kDrawsAhead) - had;
  // A target that appears late is owed much, but must not keep the others waiting until it has got
  // that.
  return std::clamp(lacks, kMinChanceKept * share, kDrawsAhead);
}

}  // namespace coz
