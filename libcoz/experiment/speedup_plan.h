// Which speedups the windows of a block try, and in which order.
//
// A block stays on one line and is complete: it tries every speedup once, and so allows each to be
// compared with baselines (speedup 0) measured within seconds of it. What drifts more slowly, such
// as the machine's speed or the program's phase, cancels, and all speedups are measured equally
// often. It is dealt in halves, each with a baseline and one half of the speedups in random order,
// so that no speedup is ever far from a baseline, and a block cut short by the end still has one.
//
// One thread; allocates. Speedups are percent.
#ifndef LIBCOZ_EXPERIMENT_SPEEDUP_PLAN_H
#define LIBCOZ_EXPERIMENT_SPEEDUP_PLAN_H

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "experiment/random.h"

namespace coz {

// Few enough for each to be measured well, and dense enough to show where a curve bends.
inline constexpr std::array<int, 6> kSpeedups = {10, 25, 40, 50, 75, 100};
inline constexpr std::size_t kHalves = 2;
static_assert(kSpeedups.size() % kHalves == 0);
inline constexpr std::size_t kWindowsPerBlock = kSpeedups.size() + kHalves;

class SpeedupPlan {
 public:
  // `fixed`: the only treatment (--fixed-speedup), in half of a block's windows; 0 means baselines
  // alone.
  explicit SpeedupPlan(std::optional<int> fixed) : fixed_(fixed) {}

  // The speedups of a block, one for each of its windows.
  std::vector<int> next_block(Random& random) const;

  // One speedup for a whole run: 0 with probability one half (§5.2.2.1), else any treatment.
  int for_whole_run(Random& random) const;

 private:
  std::optional<int> fixed_;
};

}  // namespace coz

#endif  // LIBCOZ_EXPERIMENT_SPEEDUP_PLAN_H
