#include "lifecycle/run_record.h"

#include <stdio.h>
#include <stdlib.h>

#include <utility>

#include "common/text.h"
#include "kernel/available_cores.h"

namespace coz {
namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::string_view line = take_part(text, '\n');
    if (!line.empty()) lines.emplace_back(line);
  }
  return lines;
}

// What follows the program's name in /proc/self/cmdline: arguments, each followed by a NUL.
std::vector<std::string> command_line_arguments() {
  std::vector<std::string> arguments;
  FILE* file = fopen("/proc/self/cmdline", "re");
  if (file == nullptr) return arguments;
  char* argument = nullptr;
  size_t room = 0;
  while (getdelim(&argument, &room, '\0', file) > 0) arguments.emplace_back(argument);
  free(argument);
  fclose(file);
  if (!arguments.empty()) arguments.erase(arguments.begin());
  return arguments;
}

}  // namespace

RunRecord describe_run(const Config& config, const Modules& modules, const SampleSource& samples,
                       std::vector<PointRecord> points) {
  RunRecord record;
  record.coz_version = config.version;
  record.time = wall_clock();
  record.program = config.program;
  record.arguments = command_line_arguments();
  record.build_id = modules.build_id();
  record.sampling = samples.mode_name();
  record.period = config.period;
  record.seed = config.seed;
  // Launchers bind each rank to a core of its own.
  const bool is_joint = !config.joint.empty();
  record.cores = static_cast<long>(is_joint ? machine_cores() : available_cores());
  record.granularity = name_of(config.granularity, kGranularityNames);
  record.scope = lines_of(config.source_scope);
  record.binaries = lines_of(config.binary_scope);
  record.end_to_end = config.end_to_end;
  record.busy_pauses = config.busy_pauses;
  for (const TargetName& name : config.fixed_targets) record.fixed.push_back(location_of(name));
  record.fixed_speedup = config.fixed_speedup;
  record.speedups = config.speedups;
  if (config.load && config.load->is_known()) record.arrival_speedup = config.load->delay({});
  record.companion_dose = config.companion_dose;
  record.points = std::move(points);
  return record;
}

}  // namespace coz
