#include "experiment/partners.h"

#include <algorithm>
#include <iterator>

namespace coz {
namespace {

// The largest targets, by share.
std::vector<TargetShare> leaders(std::span<const TargetShare> targets) {
  std::vector<TargetShare> found;
  std::copy_if(targets.begin(), targets.end(), std::back_inserter(found),
               [](const TargetShare& target) { return target.share >= kMinPartnerShare; });
  std::sort(found.begin(), found.end(),
            [](const TargetShare& a, const TargetShare& b) { return a.share > b.share; });
  found.resize(std::min(found.size(), kMaxInPairs));
  return found;
}

}  // namespace

std::optional<std::uint32_t> Partners::draw(std::uint32_t main,
                                            std::span<const TargetShare> targets) {
  ++since_last_;
  if (since_last_ < kPairInterval) return std::nullopt;
  const std::vector<TargetShare> large = leaders(targets);
  const auto own = std::find_if(large.begin(), large.end(),
                                [=](const TargetShare& target) { return target.target == main; });
  if (own == large.end()) return std::nullopt;
  // What a pair can save together is at most the smaller share. Each pair has its turn.
  double most = 0;
  std::optional<Pair> chosen;
  for (const TargetShare& other : large) {
    if (other.target == main) continue;
    const Pair pair = std::minmax(main, other.target);
    const auto known = blocks_.find(pair);
    const int had = known == blocks_.end() ? 0 : known->second;
    if (had >= kBlocksToKnow && since_last_ < kKnownPairInterval) continue;
    const double worth = std::min(own->share, other.share) / (1 + had);
    if (worth <= most) continue;
    most = worth;
    chosen = pair;
  }
  if (!chosen) return std::nullopt;
  ++blocks_[*chosen];
  since_last_ = 0;
  return chosen->first == main ? chosen->second : chosen->first;
}

std::vector<PairSpeedups> draw_pair_block(Random& random) {
  std::vector<PairSpeedups> block;
  for (int half = 0; half < 2; ++half) {
    std::vector<PairSpeedups> part = {
        {0, 0}, {0, kPairSpeedup}, {kPairSpeedup, 0}, {kPairSpeedup, kPairSpeedup}};
    random.shuffle(part);
    block.insert(block.end(), part.begin(), part.end());
  }
  return block;
}

}  // namespace coz
