// The lottery of target_planner.h: a target at random, in the long run in proportion to its samples
// over the whole run, with a floor.
//
// Any fixed order would bias the results (dissertation §5.2.2.1); so would taking the target of the
// next sample, which favours whatever follows an experiment. The floor gives targets that
// are rarely sampled, but not mere noise, their share of experiments.
//
// Draws are balanced: a target's chance is what it lacks of its share, so that after a minute two
// equal targets have had about equally many experiments. With independent draws 5 and 13 of 18
// would be nothing unusual.
//
// With fixed targets (fixed_targets.h) it draws among those that have been sampled; if none has
// been, among all. TargetPlanner (target_planner.h) draws by samples what it does not plan.
//
// One thread; allocates.
#ifndef LIBCOZ_EXPERIMENT_TARGET_SELECTOR_H
#define LIBCOZ_EXPERIMENT_TARGET_SELECTOR_H

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>

#include "experiment/random.h"

namespace coz {

struct TargetSamples {
  std::uint32_t target;
  std::uint64_t samples;
};

// A target with at least the share kMinShareForFloor of all samples is drawn as if it had at least
// the share kFloorShare. Targets with less than kMinShareForFloor hardly have an effect that can be
// measured. But often there are hundreds of them, which would use up a third of all experiments. So
// their chance falls with the square of their share.
inline constexpr double kMinShareForFloor = 0.004;
inline constexpr double kFloorShare = 0.01;

class TargetSelector {
 public:
  // nullopt if no target has samples.
  std::optional<std::uint32_t> draw(std::span<const TargetSamples> targets, Random& random);

 private:
  double chance(const TargetSamples& target, double all) const;

  std::unordered_map<std::uint32_t, std::uint64_t> drawn_;
  std::uint64_t draws_ = 0;
};

}  // namespace coz

#endif  // LIBCOZ_EXPERIMENT_TARGET_SELECTOR_H
