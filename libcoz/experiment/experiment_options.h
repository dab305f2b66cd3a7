// What the user asked for, as far as experiments are concerned (docs/launch_contract.md).
#ifndef LIBCOZ_EXPERIMENT_EXPERIMENT_OPTIONS_H
#define LIBCOZ_EXPERIMENT_EXPERIMENT_OPTIONS_H

#include <cstdint>
#include <optional>
#include <vector>

#include "common/clock.h"
#include "load/load_level.h"
#include "sampling/sample_source.h"
#include "sampling/waits.h"
#include "target/targets.h"

namespace coz {

// What earlier runs of the same series sampled.
struct EarlierRuns {
  struct Count {
    TargetName target;
    std::uint64_t samples = 0;
  };
  Nanoseconds run_time = 0;  // effective
  std::uint64_t experiments = 0;
  std::vector<Count> counts;
};

struct ExperimentOptions {
  std::vector<TargetName> fixed_targets;
  std::optional<int> fixed_speedup;  // percent
  std::vector<int> speedups;         // percent, 1 to 100; empty for the built-in ladder
  // Limit of the companions' dose (companions.h), a fraction; 0: one target at a time, as always
  // with fixed targets, a fixed speedup, end_to_end or load.
  double companion_dose = 0;
  EarlierRuns earlier;  // if windows have companions
  bool end_to_end = false;
  std::optional<LoadLevel> load;  // load is amplified, or at least arrivals are timed
  bool busy_pauses = false;       // pauses keep the processor (pause_busily_until)
  WaitTargets waits = WaitTargets::kNone;
  Sampling sampling = Sampling::kAuto;
  Nanoseconds period = kMillisecond;
  Nanoseconds warmup = 0;  // from the first sample to the first experiment
  // From the start to the end of profiling, after which the program goes on; 0: its own end.
  Nanoseconds stop_after = 0;
  std::uint64_t seed = 0;
  bool follows = false;  // another process makes the experiments
};

}  // namespace coz

#endif  // LIBCOZ_EXPERIMENT_EXPERIMENT_OPTIONS_H
