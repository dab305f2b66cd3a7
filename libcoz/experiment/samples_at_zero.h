// Samples of each target, and time of the run, while no main target was sped up: how much of the
// whole run a target takes, for the phase correction (cozcli/analysis/correct/phase.py). A speedup
// changes how often each thread comes by, so that the time under it cannot always be converted.
//
// One thread; allocates.
#ifndef LIBCOZ_EXPERIMENT_SAMPLES_AT_ZERO_H
#define LIBCOZ_EXPERIMENT_SAMPLES_AT_ZERO_H

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "common/clock.h"
#include "profile_log/records.h"
#include "sampling/histogram.h"

namespace coz {

class SamplesAtZero {
 public:
  // A speedup begins, and ends; without the end it is none. `run_time`: effective, so far.
  void begin_speedup(const Histogram& histogram, Nanoseconds run_time) {
    before_.clear();
    for (std::uint32_t i = 0; i < histogram.seen_count(); ++i) {
      before_.push_back(histogram.of(histogram.seen(i)));
    }
    began_ = run_time;
  }
  void end_speedup(const Histogram& histogram, Nanoseconds run_time) {
    for (std::uint32_t i = 0; i < histogram.seen_count(); ++i) {
      const std::uint32_t target = histogram.seen(i);
      const std::uint64_t before = i < before_.size() ? before_[i] : 0;
      if (const std::uint64_t samples = histogram.of(target) - before; samples > 0) {
        sped_up_[target] += samples;
      }
    }
    time_sped_up_ += std::max<Nanoseconds>(run_time - began_, 0);
  }

  // Between two speedups.
  AtZero of(const Histogram& histogram, std::uint32_t target, Nanoseconds run_time) const {
    const auto found = sped_up_.find(target);
    const std::uint64_t sped_up = found == sped_up_.end() ? 0 : found->second;
    return {histogram.of(target) - sped_up, run_time - time_sped_up_};
  }

 private:
  std::vector<std::uint64_t> before_;  // of the targets in the order of their first samples
  Nanoseconds began_ = 0;
  std::unordered_map<std::uint32_t, std::uint64_t> sped_up_;
  Nanoseconds time_sped_up_ = 0;
};

}  // namespace coz

#endif  // LIBCOZ_EXPERIMENT_SAMPLES_AT_ZERO_H
