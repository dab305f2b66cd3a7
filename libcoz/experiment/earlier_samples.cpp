#include "experiment/earlier_samples.h"

namespace coz {

void EarlierSamples::find_missing(const Targets& targets) {
  std::erase_if(missing_.counts, [&](const EarlierRuns::Count& each) {
    const auto target = targets.find(each.target);
    if (target) add(*target, each.samples);
    return target || !targets.may_change(each.target);
  });
}

void EarlierSamples::add(std::uint32_t target, std::uint64_t samples) {
  if (samples_.emplace(target, samples).second) targets_.push_back({target, samples});
}

}  // namespace coz
