// Which speedups the windows of a block try, and in which order.
//
// A block has one target, and tries every speedup equally often, so that each can be compared with
// baselines (speedup 0) measured within seconds of it. What changes more slowly than that, such as
// the machine's speed or the program's phase, cancels. A block consists of parts (halves, for the
// built-in ladder), each with a baseline and at most three treatments in random order. So no
// treatment is ever far from a baseline, and a block that the program's end cuts short still has
// one.
//
// If there are few speedups, each is tried several times in a block, equally often in each part:
//
//   treatments   1                2            3            4 to 6         7 and more
//   parts        0a 0a 0a 0a      0ab 0ab      0abc 0abc    0ab(c) 0cd..   a third as many
//
// Where queues take long to reach steady state, a block goes there and back: from baselines up to
// the highest speedup, by some of the treatments, and down again by the others. So a queue is
// drained and filled once, and a drift cancels between the baselines at both ends.
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

// Few enough to measure each well, and dense enough to show where a curve bends.
inline constexpr std::array<int, 6> kSpeedups = {10, 25, 40, 50, 75, 100};
// For the built-in ladder, and for blocks of baselines only.
inline constexpr std::size_t kWindowsPerBlock = kSpeedups.size() + 2;

class SpeedupPlan {
 public:
  // `fixed` is the only treatment (--fixed-speedup), also of a whole run; 0 means baselines only.
  // `chosen` are the treatments (--speedups), 1 to 100, each once; empty for the built-in ladder.
  explicit SpeedupPlan(std::optional<int> fixed, std::vector<int> chosen = {});

  // The speedups of the windows of the next block, in order. `preferred`: treatments instead of the
  // built-in ladder; if the user chose some, these count.
  std::vector<int> draw_speedups(Random& random, const std::vector<int>& preferred = {}) const;
  // The same there and back.
  std::vector<int> draw_there_and_back(Random& random) const;

  // One speedup for a whole run: 0 with probability one half (§5.2.2.1), else any treatment.
  int for_whole_run(Random& random) const;

 private:
  std::optional<int> fixed_;
  bool is_chosen_;  // by the user
  std::vector<int> treatments_;
};

}  // namespace coz

#endif  // LIBCOZ_EXPERIMENT_SPEEDUP_PLAN_H
