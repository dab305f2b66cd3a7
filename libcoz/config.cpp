#include "config.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace coz {
namespace {

// A day. Longer ones are no times, and could not be added to one.
constexpr std::uint64_t kLongestWarmup = 86'400'000'000'000;

std::string text(const char* name) {
  const char* value = getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

std::optional<std::uint64_t> number(const char* name) {
  const char* value = getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  char* end = nullptr;
  const unsigned long long parsed = strtoull(value, &end, 10);
  if (*end != '\0') return std::nullopt;
  return parsed;
}

bool is_process_to_profile() {
  const auto process = number("COZ_PROCESS");
  if (!process || *process != static_cast<std::uint64_t>(getpid())) return false;
  char executable[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", executable, sizeof executable - 1);
  if (length < 0) return false;
  executable[length] = '\0';
  const char* program = getenv("COZ_PROGRAM");
  return program != nullptr && std::strcmp(executable, program) == 0;
}

Sampling sampling_mode(std::string_view name) {
  if (name == "perf-trap") return Sampling::kPerfTrap;
  if (name == "perf-signal") return Sampling::kPerfSignal;
  if (name == "timer") return Sampling::kTimer;
  if (name == "off") return Sampling::kOff;
  return Sampling::kAuto;
}

Granularity granularity_named(std::string_view name) {
  if (name == "function") return Granularity::kFunction;
  if (name == "callpath") return Granularity::kCallpath;
  return Granularity::kLine;
}

// The text before the next `separator`, which is taken off `rest` with it.
std::string_view next_part(std::string_view& rest, char separator) {
  const std::string_view part = rest.substr(0, rest.find(separator));
  rest.remove_prefix(std::min(rest.size(), part.size() + 1));
  return part;
}

}  // namespace

std::vector<TargetName> parse_fixed_targets(std::string_view text) {
  std::vector<TargetName> targets;
  while (!text.empty()) {
    std::string_view name = next_part(text, '\n');
    const std::string_view kind = next_part(name, '\t');
    if (!name.empty()) targets.push_back({std::string(kind), std::string(name)});
  }
  return targets;
}

std::vector<int> parse_speedups(std::string_view text) {
  std::vector<int> speedups;
  while (!text.empty()) {
    const std::string_view part = next_part(text, ',');
    int speedup = 0;
    const auto parsed = std::from_chars(part.data(), part.data() + part.size(), speedup);
    const bool is_number = parsed.ec == std::errc() && parsed.ptr == part.data() + part.size();
    const bool is_new = std::find(speedups.begin(), speedups.end(), speedup) == speedups.end();
    if (is_number && is_new && speedup >= 1 && speedup <= 100) speedups.push_back(speedup);
  }
  return speedups;
}

std::optional<Config> Config::from_environment() {
  if (!is_process_to_profile()) return std::nullopt;
  Config config;
  config.output = text("COZ_OUTPUT");
  config.line_tables = text("COZ_LINE_TABLES");
  config.source_scope = text("COZ_SOURCE_SCOPE");
  config.fixed_targets = parse_fixed_targets(text("COZ_FIXED_TARGETS"));
  config.speedups = parse_speedups(text("COZ_SPEEDUPS"));
  if (const auto socket = number("COZ_TABLE_SOCKET"); socket && *socket <= INT_MAX) {
    config.table_socket = static_cast<int>(*socket);
  }
  config.points = text("COZ_POINTS");
  config.granularity = granularity_named(text("COZ_GRANULARITY"));
  config.version = text("COZ_VERSION");
  if (const auto speedup = number("COZ_FIXED_SPEEDUP"); speedup && *speedup <= 100) {
    config.fixed_speedup = static_cast<int>(*speedup);
  }
  config.load = LoadLevel::parse(text("COZ_ARRIVAL_SPEEDUP"), text("COZ_ARRIVAL_RATE"));
  config.end_to_end = text("COZ_END_TO_END") == "1";
  if (const auto period = number("COZ_PERIOD"); period && *period > 0) {
    config.period = static_cast<Nanoseconds>(*period);
  }
  if (const auto warmup = number("COZ_WARMUP"); warmup && *warmup <= kLongestWarmup) {
    config.warmup = static_cast<Nanoseconds>(*warmup);
  }
  config.sampling = sampling_mode(text("COZ_SAMPLING"));
  // Without a seed, runs should differ.
  config.seed = number("COZ_SEED").value_or(static_cast<std::uint64_t>(wall_clock()));
  return config;
}

}  // namespace coz
