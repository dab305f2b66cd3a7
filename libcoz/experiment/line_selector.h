// Which line to experiment on next: drawn at random, in the long run in proportion to the samples
// seen in each line over the whole run, with a floor.
//
// Any fixed order would bias the results (dissertation §5.2.2.1); so would taking the line that
// happens to be sampled next, which favours whatever follows an experiment. The floor gives lines
// that are rarely sampled, but are not mere noise, their share of experiments.
//
// Draws are balanced: a line's chance is what it lacks of its share, so that after a minute two
// equal lines have about equally many experiments, which independent draws do not give (5 and 13
// of 18 are nothing unusual for them).
//
// One thread; allocates.
#ifndef LIBCOZ_EXPERIMENT_LINE_SELECTOR_H
#define LIBCOZ_EXPERIMENT_LINE_SELECTOR_H

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>

#include "experiment/random.h"

namespace coz {

struct LineSamples {
  std::uint32_t line;
  std::uint64_t samples;
};

// A line with at least kFloorFrom of all samples is drawn as if it had kFloor. Lines below that can
// hardly have an effect that could be measured, but there are often hundreds: their chance falls
// with the square of their share, so that they don't use up a third of all experiments.
inline constexpr double kFloorFrom = 0.004;
inline constexpr double kFloor = 0.01;

class LineSelector {
 public:
  // nullopt when no line has samples.
  std::optional<std::uint32_t> draw(std::span<const LineSamples> lines, Random& random);

 private:
  double chance(const LineSamples& line, double all) const;

  std::unordered_map<std::uint32_t, std::uint64_t> drawn_;
  std::uint64_t draws_ = 0;
};

}  // namespace coz

#endif  // LIBCOZ_EXPERIMENT_LINE_SELECTOR_H
