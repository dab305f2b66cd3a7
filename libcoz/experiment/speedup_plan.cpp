#include "experiment/speedup_plan.h"

#include <algorithm>

namespace coz {

std::vector<int> SpeedupPlan::next_block(Random& random) const {
  std::array<int, kSpeedups.size()> speedups = kSpeedups;
  if (fixed_) {
    // One treatment is best compared with as many baselines: those of the halves, and these.
    speedups.fill(*fixed_);
    std::fill_n(speedups.begin(), (speedups.size() - kHalves) / 2, 0);
  }
  random.shuffle(speedups);
  constexpr std::size_t kInHalf = speedups.size() / kHalves;
  std::vector<int> block;
  for (std::size_t first = 0; first < speedups.size(); first += kInHalf) {
    std::array<int, kInHalf + 1> half = {0};
    std::copy_n(speedups.begin() + first, kInHalf, half.begin() + 1);
    random.shuffle(half);
    block.insert(block.end(), half.begin(), half.end());
  }
  return block;
}

int SpeedupPlan::for_whole_run(Random& random) const {
  if (fixed_) return *fixed_;
  if (random.below(2) == 0) return 0;
  return kSpeedups[random.below(kSpeedups.size())];
}

}  // namespace coz
