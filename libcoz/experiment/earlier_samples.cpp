#include "experiment/earlier_samples.h"

#include <utility>

namespace coz {

EarlierSamples::EarlierSamples(Nanoseconds run_time, std::uint64_t experiments,
                               std::vector<TargetSamples> targets,
                               std::vector<EarlierRuns::Count> missing)
    : run_time_(run_time),
      experiments_(experiments),
      targets_(std::move(targets)),
      missing_(std::move(missing)) {
  for (const TargetSamples& each : targets_) samples_.emplace(each.target, each.samples);
}

void EarlierSamples::find_missing(const Targets& targets) {
  std::erase_if(missing_, [&](const EarlierRuns::Count& each) {
    const auto target = targets.find(each.target);
    if (target && samples_.emplace(*target, each.samples).second) {
      targets_.push_back({*target, each.samples});
    }
    return target.has_value();
  });
}

EarlierSamples find_earlier(const EarlierRuns& runs, const Targets& targets) {
  std::vector<TargetSamples> found;
  std::vector<EarlierRuns::Count> missing;
  for (const EarlierRuns::Count& each : runs.counts) {
    if (const auto target = targets.find(each.target)) {
      found.push_back({*target, each.samples});
    } else if (targets.may_change(each.target)) {
      missing.push_back(each);
    }
  }
  return {runs.run_time, runs.experiments, std::move(found), std::move(missing)};
}

}  // namespace coz
