// The targets that the user chose (--fixed-line, --fixed-function, --fixed-region): all experiments
// are on these, equally often on each that the program runs.
//
// A line or function exists from the start, a region only once the program has entered it. One
// thread; allocates.
#ifndef LIBCOZ_EXPERIMENT_FIXED_TARGETS_H
#define LIBCOZ_EXPERIMENT_FIXED_TARGETS_H

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "experiment/random.h"
#include "experiment/target_selector.h"
#include "sampling/histogram.h"
#include "target/targets.h"

namespace coz {

class FixedTargets {
 public:
  // All must outlive it.
  FixedTargets(std::span<const TargetName> names, const Targets& targets,
               const Histogram& histogram)
      : names_(names), targets_(targets), histogram_(histogram), found_(names.size()) {}

  // True if the user chose none.
  bool empty() const noexcept { return names_.empty(); }

  // For the next block: one that has been sampled or, if none has been, any. nullopt if none exists
  // yet.
  std::optional<std::uint32_t> draw(TargetSelector& selector, Random& random);

  // For a whole run, when it is too early to know what will be sampled: any.
  std::optional<std::uint32_t> draw_any(Random& random);

 private:
  std::vector<std::uint32_t> known();

  std::span<const TargetName> names_;
  const Targets& targets_;
  const Histogram& histogram_;
  std::vector<std::optional<std::uint32_t>> found_;  // lines and functions: searched once
  std::uint32_t looked_among_ = 0;                   // how many targets there were then
};

}  // namespace coz

#endif  // LIBCOZ_EXPERIMENT_FIXED_TARGETS_H
