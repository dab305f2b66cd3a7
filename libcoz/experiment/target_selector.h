// Which target to experiment on next: drawn at random, in the long run in proportion to the samples
// seen in each target over the whole run, with a floor.
//
// Any fixed order would bias the results (dissertation §5.2.2.1); so would taking the target that
// happens to be sampled next, which favours whatever follows an experiment. The floor gives targets
// that are rarely sampled, but are not mere noise, their share of experiments.
//
// Draws are balanced: a target's chance is what it lacks of its share, so that after a minute two
// equal targets have about equally many experiments, which independent draws do not give (5 and 13
// of 18 are nothing unusual for them).
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

// A target with at least kFloorFrom of all samples is drawn as if it had kFloor. Targets below that
// can hardly have an effect that could be measured, but there are often hundreds: their chance
// falls with the square of their share, so that they don't use up a third of all experiments.
inline constexpr double kFloorFrom = 0.004;
inline constexpr double kFloor = 0.01;

class TargetSelector {
 public:
  // nullopt when no target has samples.
  std::optional<std::uint32_t> draw(std::span<const TargetSamples> targets, Random& random);

 private:
  double chance(const TargetSamples& target, double all) const;

  std::unordered_map<std::uint32_t, std::uint64_t> drawn_;
  std::uint64_t draws_ = 0;
};

}  // namespace coz

#endif  // LIBCOZ_EXPERIMENT_TARGET_SELECTOR_H
