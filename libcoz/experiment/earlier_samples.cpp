#include "experiment/earlier_samples.h"

#include <utility>

namespace coz {

EarlierSamples::EarlierSamples(Nanoseconds run_time, std::uint64_t experiments,
                               std::vector<TargetSamples> targets)
    : run_time_(run_time), experiments_(experiments), targets_(std::move(targets)) {
  for (const TargetSamples& each : targets_) samples_.emplace(each.target, each.samples);
}

EarlierSamples find_earlier(const EarlierRuns& runs, const Targets& targets) {
  std::vector<TargetSamples> found;
  for (const EarlierRuns::Count& each : runs.counts) {
    if (const auto target = targets.find(each.target)) found.push_back({*target, each.samples});
  }
  return {runs.run_time, runs.experiments, std::move(found)};
}

}  // namespace coz
