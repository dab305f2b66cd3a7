#include "experiment/speedup_plan.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace coz {
namespace {

// A block with fewer treatment windows would say little by itself.
constexpr std::size_t kMinTreated = 4;
// The maximum of treatment windows for each baseline.
constexpr std::size_t kMaxInPart = 3;

std::vector<int> treatments(std::optional<int> fixed, std::vector<int> chosen) {
  if (fixed) return *fixed == 0 ? std::vector<int>() : std::vector<int>{*fixed};
  if (chosen.empty()) return {kSpeedups.begin(), kSpeedups.end()};
  return chosen;
}

// The number of treatment windows of each part.
std::vector<std::size_t> part_sizes(std::size_t treated, std::size_t treatments, Random& random) {
  // One treatment is best compared with as many baselines.
  const std::size_t parts =
      treatments == 1 ? treated : std::max<std::size_t>(2, (treated + kMaxInPart - 1) / kMaxInPart);
  std::vector<std::size_t> sizes(parts, treated / parts);
  for (std::size_t i = 0; i < treated % parts; ++i) ++sizes[i];
  random.shuffle(sizes);
  return sizes;
}

}  // namespace

SpeedupPlan::SpeedupPlan(std::optional<int> fixed, std::vector<int> chosen)
    : fixed_(fixed),
      is_chosen_(fixed || !chosen.empty()),
      treatments_(treatments(fixed, std::move(chosen))) {}

std::vector<int> SpeedupPlan::draw_speedups(Random& random,
                                            const std::vector<int>& preferred) const {
  if (treatments_.empty()) return std::vector<int>(kWindowsPerBlock, 0);
  const std::vector<int>& tried = is_chosen_ || preferred.empty() ? treatments_ : preferred;
  // Round by round, so that a treatment that is tried more than once is in every part.
  std::vector<int> treated;
  while (treated.size() < kMinTreated) {
    std::vector<int> round = tried;
    random.shuffle(round);
    treated.insert(treated.end(), round.begin(), round.end());
  }
  std::vector<int> block;
  auto next = treated.begin();
  for (const std::size_t size : part_sizes(treated.size(), tried.size(), random)) {
    const auto end = next + static_cast<std::ptrdiff_t>(size);
    std::vector<int> part(next, end);
    part.push_back(0);
    random.shuffle(part);
    block.insert(block.end(), part.begin(), part.end());
    next = end;
  }
  return block;
}

std::vector<int> SpeedupPlan::draw_there_and_back(Random& random) const {
  std::vector<int> treated = draw_speedups(random);
  const std::size_t baselines = std::erase(treated, 0);
  // They are in random order, so that each is on the way up as often as on the way down.
  const auto highest = treated.begin() + static_cast<std::ptrdiff_t>((treated.size() + 1) / 2);
  std::sort(treated.begin(), highest);
  std::sort(highest, treated.end(), std::greater<>());
  std::vector<int> block((baselines + 1) / 2, 0);
  block.insert(block.end(), treated.begin(), treated.end());
  block.insert(block.end(), baselines / 2, 0);
  return block;
}

int SpeedupPlan::for_whole_run(Random& random) const {
  if (fixed_) return *fixed_;
  if (random.below(2) == 0) return 0;
  return treatments_[random.below(treatments_.size())];
}

}  // namespace coz
