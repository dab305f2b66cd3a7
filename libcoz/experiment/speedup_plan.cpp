#include "experiment/speedup_plan.h"

namespace coz {

std::vector<int> SpeedupPlan::next_block(std::uint32_t line, Random& random) {
  std::vector<int> block(kBaselinesPerBlock, 0);
  std::vector<int>& deck = decks_[line];
  for (int i = 0; i < kTreatmentsPerBlock; ++i) {
    if (fixed_) {
      block.push_back(*fixed_);
      continue;
    }
    if (deck.empty()) {
      deck.assign(kSpeedups.begin(), kSpeedups.end());
      random.shuffle(deck);
    }
    block.push_back(deck.back());
    deck.pop_back();
  }
  random.shuffle(block);
  return block;
}

int SpeedupPlan::for_whole_run(Random& random) const {
  if (fixed_) return *fixed_;
  if (random.below(2) == 0) return 0;
  return kSpeedups[random.below(kSpeedups.size())];
}

}  // namespace coz
