// Which line to experiment on next: drawn at random, in proportion to the samples seen in each
// line over the whole run, with a floor.
//
// Any fixed order would bias the results (dissertation §5.2.2.1); so would taking the line that
// happens to be sampled next, which favours whatever follows an experiment. The floor gives lines
// that are rarely sampled, but are not mere noise, their share of experiments.
//
// One thread; allocates.
#ifndef LIBCOZ_EXPERIMENT_LINE_SELECTOR_H
#define LIBCOZ_EXPERIMENT_LINE_SELECTOR_H

#include <cstdint>
#include <optional>
#include <span>

#include "experiment/random.h"

namespace coz {

struct LineSamples {
  std::uint32_t line;
  std::uint64_t samples;
};

// A line with at least kFloorFrom of all samples is drawn as if it had kFloor.
inline constexpr double kFloorFrom = 0.004;
inline constexpr double kFloor = 0.015;

// nullopt when no line has samples.
std::optional<std::uint32_t> draw_line(std::span<const LineSamples> lines, Random& random);

}  // namespace coz

#endif  // LIBCOZ_EXPERIMENT_LINE_SELECTOR_H
