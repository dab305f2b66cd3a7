// Pair blocks: blocks in which a second large target, the *partner* of the main one, is sped up in
// half of the windows. Otherwise no window speeds up two large targets, and whether they help only
// together, as two threads do that wait for each other, would never show.
//
// A pair block has each of (main, partner) = (0, 0), (0, 50), (50, 0), (50, 50) twice, once in
// each half. So the pair's effect beyond the sum of each alone can be read from the block itself.
//
// At most every fourth block with a main target is a pair block, so that pairs cost a quarter of
// the information on curves. A pair that had kBlocksToKnow blocks comes again only every sixteenth
// block: most large targets just add up.
//
// Regions have no companions, and so no partners. One thread; allocates.
#ifndef LIBCOZ_EXPERIMENT_PARTNERS_H
#define LIBCOZ_EXPERIMENT_PARTNERS_H

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "experiment/companions.h"
#include "experiment/random.h"

namespace coz {

// A smaller target cannot hold up another one for long.
inline constexpr double kMinPartnerShare = 0.1;
// Of so many targets, the largest, pairs are looked at.
inline constexpr std::size_t kMaxInPairs = 5;
inline constexpr int kPairSpeedup = 50;
inline constexpr int kPairInterval = 4;
inline constexpr int kKnownPairInterval = 16;
inline constexpr int kBlocksToKnow = 6;

class Partners {
 public:
  // The partner for the next block, which is on `main`; nullopt: it is an ordinary block. To be
  // called for each block that may be a pair block. `targets`: all, `main` too, without regions.
  std::optional<std::uint32_t> draw(std::uint32_t main, std::span<const TargetShare> targets);

 private:
  using Pair = std::pair<std::uint32_t, std::uint32_t>;  // the lower number first

  std::map<Pair, int> blocks_;
  int since_last_ = 0;  // blocks
};

// Percent.
struct PairSpeedups {
  int main;
  int partner;
};

// The windows of a pair block, in order.
std::vector<PairSpeedups> draw_pair_block(Random& random);

}  // namespace coz

#endif  // LIBCOZ_EXPERIMENT_PARTNERS_H
