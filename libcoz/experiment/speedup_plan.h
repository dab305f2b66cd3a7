// Which speedups the windows of a block try, and in which order.
//
// A block stays on one line. It holds baselines (speedup 0) and treatments in random order, so
// that each treatment can be compared with baselines measured within a second or two of it: what
// drifts more slowly, such as the machine's speed or the program's phase, cancels. The treatments
// are dealt from a deck of the line's own that is shuffled anew when it is used up, so that a
// curve has points over its whole range after few blocks.
//
// One thread; allocates. Speedups are percent.
#ifndef LIBCOZ_EXPERIMENT_SPEEDUP_PLAN_H
#define LIBCOZ_EXPERIMENT_SPEEDUP_PLAN_H

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "experiment/random.h"

namespace coz {

// Few enough for each to be measured well, and dense enough to show where a curve bends.
inline constexpr std::array<int, 8> kSpeedups = {10, 25, 40, 50, 60, 75, 90, 100};
inline constexpr int kBaselinesPerBlock = 2;
inline constexpr int kTreatmentsPerBlock = 3;

class SpeedupPlan {
 public:
  // `fixed`: the only treatment (--fixed-speedup); 0 means baselines alone.
  explicit SpeedupPlan(std::optional<int> fixed) : fixed_(fixed) {}

  // The speedups of the next block on `line`.
  std::vector<int> next_block(std::uint32_t line, Random& random);

  // One speedup for a whole run: 0 with probability one half (§5.2.2.1), else any treatment.
  int for_whole_run(Random& random) const;

 private:
  std::optional<int> fixed_;
  std::unordered_map<std::uint32_t, std::vector<int>> decks_;
};

}  // namespace coz

#endif  // LIBCOZ_EXPERIMENT_SPEEDUP_PLAN_H
