#include "lifecycle/config.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "common/raw_syscall.h"
#include "common/text.h"
#include "kernel/executable.h"

namespace coz {
namespace {

// A day, so that sums with it do not overflow.
constexpr std::uint64_t kMaxTime = 86'400'000'000'000;

// Percent. With more, nothing would be measured near the program's working point.
constexpr double kMaxCompanionDose = 50;

// The COZ_* variables: from the environment or, after an attach request, from the answer of `coz
// run`.
class Variables {
 public:
  // From the environment.
  Variables() = default;
  // NAME=VALUE, each followed by a NUL. `answer` outlives this.
  explicit Variables(std::string_view answer) : answer_(answer) {}

  [[nodiscard]] const char* find(const char* name) const {
    if (answer_.empty()) return getenv(name);
    const std::size_t length = std::strlen(name);
    for (std::string_view rest = answer_; rest.find('\0') != std::string_view::npos;) {
      const std::string_view variable = take_part(rest, '\0');
      if (variable.starts_with(name) && variable.substr(length).starts_with('=')) {
        return variable.data() + length + 1;
      }
    }
    return nullptr;
  }

  [[nodiscard]] std::string text(const char* name) const {
    const char* value = find(name);
    return value == nullptr ? std::string() : std::string(value);
  }

  [[nodiscard]] std::optional<std::uint64_t> number(const char* name) const {
    const char* value = find(name);
    if (value == nullptr) return std::nullopt;
    return parse_number<std::uint64_t>(value);
  }

 private:
  std::string_view answer_;
};

bool is_this_program(const char* program) {
  char executable[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", executable, sizeof executable - 1);
  if (length < 0) return is_same_file(path_to_executable(), program);
  executable[length] = '\0';
  return std::strcmp(executable, program) == 0;
}

bool is_launched_process() {
  const auto process = Variables().number("COZ_PROCESS");
  return process && *process == static_cast<std::uint64_t>(getpid());
}

bool is_process_to_profile() {
  const char* program = getenv("COZ_PROGRAM");
  return program != nullptr && is_launched_process() && is_this_program(program);
}

std::vector<std::string> parse_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) lines.emplace_back(take_part(text, '\n'));
  return lines;
}

// Which of the programs that take part in a tree this is.
std::optional<std::size_t> program_of_tree(const std::vector<std::string>& programs) {
  for (std::size_t i = 0; i < programs.size(); ++i) {
    if (is_this_program(programs[i].c_str())) return i;
  }
  return std::nullopt;
}

}  // namespace

std::vector<TargetName> parse_fixed_targets(std::string_view text) {
  std::vector<TargetName> targets;
  while (!text.empty()) {
    std::string_view name = take_part(text, '\n');
    const std::string_view kind = take_part(name, '\t');
    if (!name.empty()) targets.push_back({std::string(kind), std::string(name)});
  }
  return targets;
}

EarlierRuns parse_earlier_samples(std::string_view text) {
  std::string_view first = take_part(text, '\n');
  const auto time = parse_number<std::uint64_t>(take_part(first, '\t'));
  const auto experiments = parse_number<std::uint64_t>(first);
  if (!time || *time > kMaxTime || !experiments) return {};
  EarlierRuns runs{static_cast<Nanoseconds>(*time), *experiments, {}};
  while (!text.empty()) {
    std::string_view line = take_part(text, '\n');
    const std::string_view kind = take_part(line, '\t');
    const std::string_view name = take_part(line, '\t');
    const auto samples = parse_number<std::uint64_t>(line);
    if (samples) runs.counts.push_back({{std::string(kind), std::string(name)}, *samples});
  }
  return runs;
}

std::vector<int> parse_speedups(std::string_view text) {
  std::vector<int> speedups;
  while (!text.empty()) {
    const int speedup = parse_number<int>(take_part(text, ',')).value_or(0);
    const bool is_new = std::find(speedups.begin(), speedups.end(), speedup) == speedups.end();
    if (is_new && speedup >= 1 && speedup <= 100) speedups.push_back(speedup);
  }
  return speedups;
}

double parse_companion_dose(std::string_view text) {
  const double percent = parse_number<double>(text).value_or(0);
  return percent > 0 && percent <= kMaxCompanionDose ? percent / 100 : 0;
}

namespace {

Config read(const Variables& variables) {
  Config config;
  config.program = variables.text("COZ_PROGRAM");
  config.output = variables.text("COZ_OUTPUT");
  config.line_tables = variables.text("COZ_LINE_TABLES");
  config.source_scope = variables.text("COZ_SOURCE_SCOPE");
  config.binary_scope = variables.text("COZ_BINARY_SCOPE");
  config.fixed_targets = parse_fixed_targets(variables.text("COZ_FIXED_TARGETS"));
  config.speedups = parse_speedups(variables.text("COZ_SPEEDUPS"));
  if (const auto socket = variables.number("COZ_TABLE_SOCKET"); socket && *socket <= INT_MAX) {
    config.table_socket = static_cast<int>(*socket);
  }
  config.points = variables.text("COZ_POINTS");
  config.granularity =
      value_named<Granularity>(variables.text("COZ_GRANULARITY"), kGranularityNames)
          .value_or(Granularity::kLine);
  config.waits = value_named<WaitTargets>(variables.text("COZ_WAITS"), kWaitTargetsNames)
                     .value_or(WaitTargets::kNone);
  config.tree = variables.text("COZ_TREE") == "1";
  config.tree_file = variables.text("COZ_TREE_FILE");
  config.tree_inode = variables.number("COZ_TREE_INODE").value_or(0);
  config.tree_programs = parse_lines(variables.text("COZ_TREE_PROGRAMS"));
  config.tree_program = program_of_tree(config.tree_programs);
  config.joint = variables.text("COZ_JOINT");
  config.follows = variables.text("COZ_JOINT_FOLLOWS") == "1";
  config.version = variables.text("COZ_VERSION");
  if (const auto speedup = variables.number("COZ_FIXED_SPEEDUP"); speedup && *speedup <= 100) {
    config.fixed_speedup = static_cast<int>(*speedup);
  }
  config.load =
      LoadLevel::parse(variables.text("COZ_ARRIVAL_SPEEDUP"), variables.text("COZ_ARRIVAL_RATE"));
  config.busy_pauses = variables.text("COZ_BUSY_PAUSES") == "1";
  config.end_to_end = variables.text("COZ_END_TO_END") == "1";
  const bool has_choice = config.fixed_speedup || !config.fixed_targets.empty();
  if (!has_choice && !config.load && !config.end_to_end) {
    config.companion_dose = parse_companion_dose(variables.text("COZ_COMPANIONS"));
    config.earlier = parse_earlier_samples(variables.text("COZ_EARLIER_SAMPLES"));
  }
  if (const auto period = variables.number("COZ_PERIOD"); period && *period > 0) {
    config.period = static_cast<Nanoseconds>(*period);
  }
  if (const auto warmup = variables.number("COZ_WARMUP"); warmup && *warmup <= kMaxTime) {
    config.warmup = static_cast<Nanoseconds>(*warmup);
  }
  if (const auto end = variables.number("COZ_STOP_AFTER"); end && *end <= kMaxTime) {
    config.stop_after = static_cast<Nanoseconds>(*end);
  }
  config.sampling = value_named<Sampling>(variables.text("COZ_SAMPLING"), kSamplingNames)
                        .value_or(Sampling::kAuto);
  // Without a seed, runs should differ.
  config.seed = variables.number("COZ_SEED").value_or(static_cast<std::uint64_t>(wall_clock()));
  return config;
}

}  // namespace

Config Config::from_attach_answer(const AttachAnswer& answer) {
  Config config = read(Variables(answer.variables));
  if (config.table_socket) {
    config.table_socket = answer.socket;
  } else {
    raw_syscall(SYS_close, answer.socket);
  }
  return config;
}

std::optional<Config> Config::from_environment() {
  if (is_process_to_profile()) return read(Variables());
  if (program_of_tree(parse_lines(Variables().text("COZ_TREE_PROGRAMS")))) {
    Config config = read(Variables());
    config.is_executed = config.follows = !is_launched_process();
    return config;
  }
  const auto answer = request_attach(getenv("COZ_CLAIMS"));
  if (!answer) return std::nullopt;
  return from_attach_answer(*answer);
}

std::optional<Forked> Forked::from_environment() {
  const Variables variables;
  const auto generations = variables.number("COZ_FORKED");
  const auto pipe = variables.number("COZ_FORKED_PIPE");
  const auto inode = variables.number("COZ_FORKED_INODE");
  if (!generations || !pipe || !inode || *pipe > INT_MAX || !is_process_to_profile()) {
    return std::nullopt;
  }
  return Forked{*generations, static_cast<int>(*pipe), *inode, variables.text("COZ_CLAIMS")};
}

}  // namespace coz
