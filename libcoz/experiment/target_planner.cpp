#include "experiment/target_planner.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "experiment/speedup_plan.h"
#include "target/selection.h"

namespace coz {
namespace {

constexpr double kQuantile = 1.96;
// One block in so many is drawn by samples.
constexpr std::uint64_t kRound = 8;
// Of the others, so many go to targets that had none, while there are any.
constexpr double kFirstLookChance = 0.5;
// Leaders known as exactly as this are as good as equal, if their order is not known.
constexpr double kEqual = 0.0075;
// Percent. For the effect at 50 %, that and 100 say most; 25 and 75 show where the curve bends.
constexpr std::array kFirstLook = {50, 100};
constexpr std::array kPreciseLook = {25, 50, 75, 100};

std::vector<int> to_vector(std::span<const int> speedups) {
  return {speedups.begin(), speedups.end()};
}

double half_of(const EffectEstimate& effect) { return kQuantile * effect.error; }
double most_of(const EffectEstimate& effect) { return std::abs(effect.mean) + half_of(effect); }

double gain_of(const EffectEstimate& effect) {
  const double narrower = effect.error - effect.after_block;
  return narrower * narrower * most_of(effect);
}

}  // namespace

void TargetPlanner::continue_series(std::uint64_t windows) {
  if (windows == 0) return;
  blocks_ = windows / kWindowsPerBlock;
  min_windows_ = kScreening;
}

std::optional<PlannedBlock> TargetPlanner::next(std::span<const PlannedTarget> targets,
                                                bool combines, Random& random) {
  const std::uint64_t block = blocks_++;
  if (combines) {
    follow_large(targets);
    if (block % kRound != 0 && windows_ >= min_windows_) {
      if (auto planned = draw_open(targets, random)) return planned;
    }
  }
  return draw_by_samples(targets, combines && block >= kMinMainBlocks, random);
}

void TargetPlanner::follow_large(std::span<const PlannedTarget> targets) {
  for (PointEstimates& each : points_) {
    for (const PlannedTarget& target : targets) {
      if (!target.covered) each.estimates.follow(target.target);
    }
  }
}

std::optional<PlannedBlock> TargetPlanner::draw_open(std::span<const PlannedTarget> targets,
                                                     Random& random) {
  std::vector<Candidate> open = imprecise(targets);
  const bool is_imprecise = !open.empty();
  if (open.empty()) open = unranked(targets);
  if (open.empty()) return std::nullopt;
  if (is_imprecise && random.fraction() < kFirstLookChance) prefer_first_looks(open);
  double sum = 0;
  for (const Candidate& each : open) sum += each.gain;
  double left = random.fraction() * sum;
  std::size_t drawn = 0;
  while (drawn + 1 < open.size() && (left -= open[drawn].gain) > 0) ++drawn;
  const std::uint32_t target = open[drawn].target;
  if (!is_imprecise) return PlannedBlock{target, {}};
  const bool is_first = looked_at_.insert(target).second;
  return PlannedBlock{target, is_first ? to_vector(kFirstLook) : to_vector(kPreciseLook)};
}

// Where windows are noisy, those of a large target would narrow its interval by more than the first
// ones of a small target, and take all blocks.
void TargetPlanner::prefer_first_looks(std::vector<Candidate>& open) const {
  const auto is_known = [&](const Candidate& each) { return looked_at_.contains(each.target); };
  if (!std::all_of(open.begin(), open.end(), is_known)) std::erase_if(open, is_known);
}

std::optional<PlannedBlock> TargetPlanner::draw_by_samples(std::span<const PlannedTarget> targets,
                                                           bool combines, Random& random) {
  std::vector<TargetSamples> samples;
  samples.reserve(targets.size());
  for (const PlannedTarget& each : targets) samples.push_back({each.target, each.samples});
  const auto drawn = selector_.draw(samples, random);
  if (!drawn) return std::nullopt;
  const auto found = std::find_if(targets.begin(), targets.end(),
                                  [&](const PlannedTarget& each) { return each.target == *drawn; });
  const bool needs_none = combines && (found->covered || cannot_matter(*found));
  return PlannedBlock{needs_none ? kNoTarget : *drawn, {}};
}

bool TargetPlanner::cannot_matter(const PlannedTarget& target) const {
  return follows_all_points_ && !points_.empty() &&
         std::all_of(points_.begin(), points_.end(), [&](const PointEstimates& each) {
           return most_of(each.estimates.of(target.target, target.share)) < kMatters;
         });
}

std::vector<TargetPlanner::Candidate> TargetPlanner::imprecise(
    std::span<const PlannedTarget> targets) const {
  std::vector<Candidate> open;
  for (const PlannedTarget& target : targets) {
    if (target.covered) continue;
    double gain = 0;
    for (const PointEstimates& each : points_) {
      const EffectEstimate effect = each.estimates.of(target.target, target.share);
      if (most_of(effect) < kMatters || half_of(effect) <= kPrecise) continue;
      gain = std::max(gain, gain_of(effect));
    }
    if (gain > 0) open.push_back({target.target, gain});
  }
  return open;
}

std::vector<TargetPlanner::Candidate> TargetPlanner::unranked(
    std::span<const PlannedTarget> targets) const {
  struct Leader {
    PlannedTarget target;
    EffectEstimate effect;
  };
  std::vector<Candidate> open;
  for (const PointEstimates& each : points_) {
    std::vector<Leader> leaders;
    for (const PlannedTarget& target : targets) {
      if (target.covered) continue;
      leaders.push_back({target, each.estimates.of(target.target, target.share)});
    }
    std::sort(leaders.begin(), leaders.end(),
              [](const Leader& a, const Leader& b) { return a.effect.mean > b.effect.mean; });
    leaders.resize(std::min(leaders.size(), kLeaders + 1));
    for (std::size_t i = 0; i + 1 < leaders.size(); ++i) {
      const Leader& a = leaders[i];
      const Leader& b = leaders[i + 1];
      const double error = each.estimates.error_between(a.target.target, a.target.share,
                                                        b.target.target, b.target.share);
      if (a.effect.mean - b.effect.mean > kQuantile * error) continue;
      for (const Leader* leader : {&a, &b}) {
        if (half_of(leader->effect) <= kEqual) continue;
        open.push_back({leader->target.target, gain_of(leader->effect)});
      }
    }
  }
  return open;
}

void TargetPlanner::observe(std::span<const PointResult> points, std::uint64_t block,
                            std::span<const SpedUp> sped_up) {
  ++windows_;
  for (const PointResult& point : points) {
    if (point.kind == PointKind::kArrival) continue;
    if (point.kind != PointKind::kThroughput) follows_all_points_ = false;
    if (point.kind != PointKind::kThroughput || point.visits == 0) continue;
    auto found = std::find_if(points_.begin(), points_.end(),
                              [&](const PointEstimates& each) { return each.point == point.name; });
    if (found == points_.end()) {
      if (points_.size() == kMaxPoints) {
        follows_all_points_ = false;
        continue;
      }
      found = points_.insert(found, {point.name, {}, block});
    }
    found->estimates.observe(static_cast<double>(point.elapsed) / static_cast<double>(point.visits),
                             found->block != block, sped_up);
    found->block = block;
  }
}

}  // namespace coz
