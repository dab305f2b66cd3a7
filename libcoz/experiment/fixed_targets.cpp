#include "experiment/fixed_targets.h"

namespace coz {

std::vector<std::uint32_t> FixedTargets::known() {
  // The search for a line reads a whole table, so it is repeated only when there are more targets.
  const std::uint32_t count = targets_.count();
  std::vector<std::uint32_t> known;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (count != looked_among_ || targets_.may_change(names_[i])) {
      found_[i] = targets_.find(names_[i]);
    }
    if (found_[i]) known.push_back(*found_[i]);
  }
  looked_among_ = count;
  return known;
}

std::optional<std::uint32_t> FixedTargets::draw(TargetSelector& selector, Random& random) {
  // As if all had the same number of samples.
  constexpr std::uint64_t kEqual = 1000;
  const std::vector<std::uint32_t> known = this->known();
  std::vector<TargetSamples> sampled;
  for (const std::uint32_t target : known) {
    if (histogram_.of(target) > 0) sampled.push_back({target, kEqual});
  }
  if (sampled.empty()) {
    for (const std::uint32_t target : known) sampled.push_back({target, kEqual});
  }
  return selector.draw(sampled, random);
}

std::optional<std::uint32_t> FixedTargets::draw_any(Random& random) {
  const std::vector<std::uint32_t> known = this->known();
  if (known.empty()) return std::nullopt;
  return known[random.below(known.size())];
}

}  // namespace coz
