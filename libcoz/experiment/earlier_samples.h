// What earlier runs of a series (`coz run --repeat`) sampled. A run of a second is over before its
// own samples say which targets may be companions, and how much time each takes.
//
// One thread; allocates.
#ifndef LIBCOZ_EXPERIMENT_EARLIER_SAMPLES_H
#define LIBCOZ_EXPERIMENT_EARLIER_SAMPLES_H

#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/clock.h"
#include "experiment/experiment_options.h"
#include "experiment/target_selector.h"
#include "target/targets.h"

namespace coz {

class EarlierSamples {
 public:
  explicit EarlierSamples(EarlierRuns runs = {}) : missing_(std::move(runs)) {}

  // Adds those that can be found by now, by their names. Others may be found later, when the
  // program has waited there, or entered the region: without them, a series of short runs would
  // choose among lines only. Lines and functions of libraries that are not loaded yet are left out.
  void find_missing(const Targets& targets);
  // Once for each target; another time does nothing.
  void add(std::uint32_t target, std::uint64_t samples);

  Nanoseconds run_time() const noexcept { return missing_.run_time; }

  std::uint64_t of(std::uint32_t target) const {
    const auto found = samples_.find(target);
    return found == samples_.end() ? 0 : found->second;
  }
  // All that have samples.
  std::span<const TargetSamples> targets() const noexcept { return targets_; }

 private:
  EarlierRuns missing_;  // less the targets that are found
  std::unordered_map<std::uint32_t, std::uint64_t> samples_;
  std::vector<TargetSamples> targets_;
};

}  // namespace coz

#endif  // LIBCOZ_EXPERIMENT_EARLIER_SAMPLES_H
