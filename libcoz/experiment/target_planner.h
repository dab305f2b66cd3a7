// Which target the next block is about (its main target), or whether it measures companions alone.
//
// Without companions, and in the first blocks, targets are drawn by their samples
// (target_selector.h). Afterwards seven of eight blocks go where they decide something, to targets
// that are *open*:
//
//   1. those that may matter, since the 95 % interval of their effect at 50 % goes beyond
//      ±kMatters, and are not known to ±kPrecise. Their blocks try fewer speedups (kFirstLook, then
//      kPreciseLook): those that tell most of the effect at 50 %, and where the curve bends;
//   2. if there are none: those of the kLeaders largest whose rank is open, since the next one may
//      have the larger effect. Their blocks try all speedups.
//
// One is drawn at random. Its chance grows with what its block would add (the square of how much
// narrower the interval becomes) and with how much it may matter. In half of the blocks only those
// take part that had no such block yet, if there are any.
//
// The eighth block, and all once nothing is open, are drawn by samples, for the curves of the
// leaders. But a target that cannot matter, since its interval lies within ±kMatters, gets none,
// nor does one that companions cover (Companions::covers()). So a program without dominant lines
// needs no main target at all.
//
// A target is open if it is open at any of the first kMaxPoints throughput points. Further ones and
// latency points are not estimated here; where there are such, a target may matter there, so none
// counts as one that cannot matter.
//
// Plain logic; one thread; allocates. docs/decisions/combined_windows.md has what it gains.
#ifndef LIBCOZ_EXPERIMENT_TARGET_PLANNER_H
#define LIBCOZ_EXPERIMENT_TARGET_PLANNER_H

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "experiment/effect_estimates.h"
#include "experiment/random.h"
#include "experiment/target_selector.h"
#include "profile_log/records.h"

namespace coz {

// What is known of a target before the next block.
struct PlannedTarget {
  std::uint32_t target;
  std::uint64_t samples;
  double share;  // of effective time
  bool covered;  // companions tell enough of it
};

struct PlannedBlock {
  std::uint32_t target;       // kNoTarget: companions alone
  std::vector<int> speedups;  // percent; empty for all
};

class TargetPlanner {
 public:
  // The first blocks have a main target: a few windows tell nothing of companions.
  static constexpr std::uint64_t kMinMainBlocks = 3;
  // Effects at 50 %, fractions.
  static constexpr double kMatters = 0.02;
  static constexpr double kPrecise = 0.015;
  static constexpr std::size_t kLeaders = 5;
  static constexpr std::size_t kMaxPoints = 4;
  static constexpr std::uint64_t kScreening = 40;  // windows, about ten seconds

  // Before the first block: earlier runs of the series had so many windows. Their results are not
  // known here, so that nothing is open until this run has had as many as a screening: in short
  // runs the largest targets would get all blocks again and again.
  void continue_series(std::uint64_t windows);

  // For the next block; nullopt if no target has samples. `combines`: its windows have companions.
  std::optional<PlannedBlock> next(std::span<const PlannedTarget> targets, bool combines,
                                   Random& random);

  // A window of a block has ended, in which these targets were sped up.
  void observe(std::span<const PointResult> points, std::uint64_t block,
               std::span<const SpedUp> sped_up);

 private:
  struct Candidate {
    std::uint32_t target;
    double gain;
  };
  struct PointEstimates {
    std::string point;
    EffectEstimates estimates;
    std::uint64_t block;  // of the last window
  };

  void follow_large(std::span<const PlannedTarget> targets);
  std::optional<PlannedBlock> draw_open(std::span<const PlannedTarget> targets, Random& random);
  std::optional<PlannedBlock> draw_by_samples(std::span<const PlannedTarget> targets, bool combines,
                                              Random& random);
  bool cannot_matter(const PlannedTarget& target) const;
  void prefer_first_looks(std::vector<Candidate>& open) const;
  std::vector<Candidate> imprecise(std::span<const PlannedTarget> targets) const;
  std::vector<Candidate> unranked(std::span<const PlannedTarget> targets) const;

  TargetSelector selector_;
  std::vector<PointEstimates> points_;
  bool follows_all_points_ = true;
  std::unordered_set<std::uint32_t> looked_at_;  // in blocks of kFirstLook
  std::uint64_t blocks_ = 0;
  std::uint64_t windows_ = 0;
  std::uint64_t min_windows_ = 0;  // before anything is open
};

}  // namespace coz

#endif  // LIBCOZ_EXPERIMENT_TARGET_PLANNER_H
