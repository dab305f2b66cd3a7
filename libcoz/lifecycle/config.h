// What `coz run` asked for: every COZ_* variable (docs/launch_contract.md), read once.
#ifndef LIBCOZ_LIFECYCLE_CONFIG_H
#define LIBCOZ_LIFECYCLE_CONFIG_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/clock.h"
#include "lifecycle/attach_request.h"
#include "load/load_level.h"
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

  // In a process that `coz run` was asked about, of its answer. Takes the claim's socket.
  static Config from_attach_answer(const AttachRequest& claim);

  // nullopt when this process is not the one to be profiled. May ask `coz run` and wait for its
  // answer (lifecycle/attach_request.h).
  static std::optional<Config> from_environment();
};

// COZ_FORKED: not this process is to be profiled, but one that it forks.
struct Forked {
  std::uint64_t generations = 1;  // 1: a child; 2: a child of a child
  int pipe = -1;                  // open as long as there may be one; inherited from `coz run`
  std::uint64_t inode = 0;        // the pipe's
  std::string claims;             // where a child asks whether it is the one

  // nullopt if there is no such wish, or this is not the process that it is about.
  static std::optional<Forked> from_environment();
};

// COZ_FIXED_TARGETS: `KIND<TAB>NAME`, one a line.
std::vector<TargetName> parse_fixed_targets(std::string_view text);

// COZ_SPEEDUPS: whole numbers with commas between them. What is none from 1 to 100 is left out.
std::vector<int> parse_speedups(std::string_view text);

}  // namespace coz

#endif  // LIBCOZ_LIFECYCLE_CONFIG_H
