// What `coz run` asked for: every COZ_* variable (docs/launch_contract.md), read once.
#ifndef LIBCOZ_CONFIG_H
#define LIBCOZ_CONFIG_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/load_level.h"
#include "os/clock.h"
#include "target/targets.h"

namespace coz {

enum class Sampling { kAuto, kPerfTrap, kPerfSignal, kTimer, kOff };

struct Config {
  std::string program;
  std::string output;
  std::string line_tables;
  std::string source_scope;
  std::vector<TargetName> fixed_targets;
  std::string points;  // those that the command line asked for
  std::string version;
  // Where `coz run` is asked for tables of modules that are loaded later.
  std::optional<int> table_socket;
  std::optional<int> fixed_speedup;  // percent
  std::vector<int> speedups;         // percent, 1 to 100; empty for the built-in ladder
  bool end_to_end = false;
  std::optional<LoadLevel> load;  // load is amplified, or at least arrivals are timed
  Granularity granularity = Granularity::kLine;
  Nanoseconds period = kMillisecond;
  Nanoseconds warmup = 0;  // from the first sample to the first experiment
  // From the start to the end of profiling, after which the program goes on; 0: its own end.
  Nanoseconds stop_after = 0;
  Sampling sampling = Sampling::kAuto;
  std::uint64_t seed = 0;

  // nullopt when this process is not the one to be profiled. May ask `coz run` and wait for its
  // answer (os/process_claim.h).
  static std::optional<Config> from_environment();
};

// COZ_FIXED_TARGETS: `KIND<TAB>NAME`, one a line.
std::vector<TargetName> parse_fixed_targets(std::string_view text);

// COZ_SPEEDUPS: whole numbers with commas between them. What is none from 1 to 100 is left out.
std::vector<int> parse_speedups(std::string_view text);

}  // namespace coz

#endif  // LIBCOZ_CONFIG_H
