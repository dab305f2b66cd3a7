// What `coz run` asked for: every COZ_* variable (docs/launch_contract.md), read once.
#ifndef LIBCOZ_CONFIG_H
#define LIBCOZ_CONFIG_H

#include <cstdint>
#include <optional>
#include <string>

#include "os/clock.h"
#include "target/targets.h"

namespace coz {

enum class Sampling { kAuto, kPerfTrap, kPerfSignal, kTimer, kOff };

struct Config {
  std::string output;
  std::string line_tables;
  std::string source_scope;
  std::string fixed_line;
  std::string version;
  // Where `coz run` is asked for tables of modules that are loaded later.
  std::optional<int> table_socket;
  std::optional<int> fixed_speedup;  // percent
  bool end_to_end = false;
  Granularity granularity = Granularity::kLine;
  Nanoseconds period = kMillisecond;
  Sampling sampling = Sampling::kAuto;
  std::uint64_t seed = 0;

  // nullopt when this process is not the one to be profiled.
  static std::optional<Config> from_environment();
};

}  // namespace coz

#endif  // LIBCOZ_CONFIG_H
