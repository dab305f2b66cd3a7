// What earlier runs of a series (`coz run --repeat`) sampled. A run of a second is over before its
// own samples say which targets may be companions, and how much time each takes.
//
// One thread; allocates.
#ifndef LIBCOZ_EXPERIMENT_EARLIER_SAMPLES_H
#define LIBCOZ_EXPERIMENT_EARLIER_SAMPLES_H

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "common/clock.h"
#include "experiment/experiment_options.h"
#include "experiment/target_selector.h"
#include "target/targets.h"

namespace coz {

class EarlierSamples {
 public:
  // There was no earlier run.
  EarlierSamples() = default;

  // Each of `targets` once. `run_time`: effective. `missing`: those that may yet be found.
  EarlierSamples(Nanoseconds run_time, std::uint64_t experiments,
                 std::vector<TargetSamples> targets, std::vector<EarlierRuns::Count> missing = {});

  // Adds those missing that can be found by now: the program has waited there, or entered the
  // region. Without them, a series of short runs would choose among lines only.
  void find_missing(const Targets& targets);

  Nanoseconds run_time() const noexcept { return run_time_; }
  std::uint64_t experiments() const noexcept { return experiments_; }

  std::uint64_t of(std::uint32_t target) const {
    const auto found = samples_.find(target);
    return found == samples_.end() ? 0 : found->second;
  }
  // All that have samples.
  std::span<const TargetSamples> targets() const noexcept { return targets_; }

 private:
  Nanoseconds run_time_ = 0;
  std::uint64_t experiments_ = 0;
  std::unordered_map<std::uint32_t, std::uint64_t> samples_;
  std::vector<TargetSamples> targets_;
  std::vector<EarlierRuns::Count> missing_;
};

// Finds the targets by their names; those of libraries that are not loaded yet are left out.
EarlierSamples find_earlier(const EarlierRuns& runs, const Targets& targets);

}  // namespace coz

#endif  // LIBCOZ_EXPERIMENT_EARLIER_SAMPLES_H
