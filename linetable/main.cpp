// coz-linetable: writes and examines line tables. The commands are described in
// docs/launch_contract.md; `coz run` is their usual caller.
#include <getopt.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "common/json.h"
#include "linetable/accesses/alias_search.h"
#include "linetable/cache/build_table.h"
#include "linetable/layout/build_layout.h"
#include "linetable/machine/breakpoint_costs.h"
#include "linetable/machine/process_limits.h"
#include "linetable/machine/sampling_modes.h"
#include "linetable/query/location_query.h"
#include "linetable/query/table_queries.h"

#ifndef COZ_VERSION
#define COZ_VERSION "development"
#endif

namespace coz::linetable {
namespace {

// Beside kLimitReached (process_limits.h).
enum ExitStatus {
  kOk = 0,
  kUsage = 2,
  kNoDebugInfo = 3,
  kNotElf = 4,
  kCacheFailed = 5,
  kRefused = 7
};

constexpr const char* kHelp =
    R"(usage: coz-linetable build [--cache-dir DIR] [--debug-dir DIR]... [--debuginfod] [--no-cache]
                            [--functions] [--scope [--source-scope PATTERN]...] BINARY
       coz-linetable scope --table T [--source-scope PATTERN]... [--line FILE:LINE]...
                           [--function NAME]...
       coz-linetable lines --table T [--source-scope PATTERN]... [--functions]
       coz-linetable locations [--debug-dir DIR]... [--debuginfod] --location NAME... BINARY
       coz-linetable layout [--cache-dir DIR] [--no-cache] [--unit N]... BINARY
       coz-linetable breakpoints
       coz-linetable sampling
       coz-linetable accesses MICROSECONDS PROGRAM [ARGUMENT]...
       coz-linetable --help | --version

build        reads the debug information of BINARY and writes its line table into the cache
  --cache-dir DIR         where tables are kept (default: $XDG_CACHE_HOME/coz or ~/.cache/coz)
  --debug-dir DIR         where separate debug files are looked for before /usr/lib/debug
  --debuginfod            asks the servers in $DEBUGINFOD_URLS for what is not on this machine
  --no-cache              builds the table anew even if there is a good one
  --functions             adds functions that only symbols and unwind tables name, where there is
                          no debug information
  --scope                 also answers what scope would
scope        prints which source files and lines are in scope
  --table T               the table, as build printed it
  --source-scope PATTERN  files to include; % stands for any characters (default: all but system
                          headers, standard libraries and downloaded packages)
  --line FILE:LINE        also prints what this names; so does --function NAME
lines        lists every line in scope
  --functions             lists functions instead of lines
locations    prints where breakpoints count visits to lines or functions of BINARY
  --location NAME         FILE:LINE, FUNCTION or FILE:FUNCTION; % stands for any characters
layout       plans how the functions of BINARY can be moved, and writes that into the cache
  --unit N                prints the functions of that unit of the plan instead
breakpoints  prints which kinds of breakpoints there are, and what a visit costs, in nanoseconds
sampling     prints which ways of sampling the kernel refuses, and why
accesses     runs PROGRAM, which takes about that long, some of it by single steps, and prints which
             loads follow a store to another address with the same low twelve bits
)";

struct Arguments {
  BuildOptions build;
  std::string table;
  std::vector<std::string_view> patterns;
  WantedTargets wanted_targets;
  bool functions = false;
  bool scope = false;
  std::vector<std::string> locations;
  std::vector<std::uint32_t> units;
};

int usage(const std::string& message) {
  std::fprintf(stderr, "coz-linetable: %s (see coz-linetable --help)\n", message.c_str());
  return kUsage;
}

void print_line(const std::string& text) { std::printf("%s\n", text.c_str()); }

// Prints the answer. Output that could not be written (a full disk, a closed pipe) is an error too.
int finish(int status, const std::string& answer) {
  print_line(answer);
  return std::fflush(stdout) == 0 ? status : int{kCacheFailed};
}

int fail(int status, const char* error, const std::string& message) {
  JsonWriter json;
  json.begin_object().field("error", error).field("message", message).end_object();
  return finish(status, json.text());
}

int run_build(const Arguments& arguments) {
  constexpr int kStatus[] = {kOk, kNoDebugInfo, kNotElf, kCacheFailed};  // by BuildError
  const BuildResult result = build_table(arguments.build);
  std::string answer = to_json(result);
  LineTable table;
  if (arguments.scope && result.error == BuildError::kNone &&
      LineTable::open(result.table.c_str(), table) == nullptr) {
    answer.back() = ',';  // one more field
    answer += "\"scope\":" + describe_scope(table, SourceScope(arguments.patterns), {}) + "}";
  }
  return finish(kStatus[static_cast<int>(result.error)], answer);
}

int run_locations(const Arguments& arguments) {
  if (arguments.locations.empty()) return usage("locations wants --location");
  const LocationQuery query{arguments.build.binary, arguments.build.search, arguments.locations};
  std::vector<LocationAnswer> answers;
  std::string error;
  if (!find_locations(query, answers, error)) return fail(kNotElf, "not-elf", error);
  return finish(kOk, to_json(answers));
}

int run_layout(const Arguments& arguments) {
  constexpr int kStatus[] = {kOk, kRefused, kNotElf, kCacheFailed};  // by LayoutError
  const LayoutAnswer answer = arguments.units.empty()
                                  ? build_layout(arguments.build)
                                  : describe_units(arguments.build, arguments.units);
  return finish(kStatus[static_cast<int>(answer.error)], answer.json);
}

template <typename Query>
int with_table(const Arguments& arguments, Query query) {
  if (arguments.table.empty()) return usage("--table is missing");
  LineTable table;
  if (const char* error = LineTable::open(arguments.table.c_str(), table)) {
    return fail(kCacheFailed, "cache", arguments.table + ": " + error);
  }
  return query(table, SourceScope(arguments.patterns));
}

int run_scope(const Arguments& arguments) {
  return with_table(arguments, [&](const LineTable& table, const SourceScope& scope) {
    return finish(kOk, describe_scope(table, scope, arguments.wanted_targets));
  });
}

int run_lines(const Arguments& arguments) {
  return with_table(arguments, [&](const LineTable& table, const SourceScope& scope) {
    list_lines(table, scope, arguments.functions, print_line);
    return std::fflush(stdout) == 0 ? int{kOk} : int{kCacheFailed};
  });
}

int run_breakpoints(const Arguments&) { return finish(kOk, to_json(measure_breakpoints())); }

// All that follows the program's name is for it.
int run_accesses(int argc, char** argv) {
  char* end = nullptr;
  const long time = argc < 3 ? 0 : std::strtol(argv[1], &end, 10);
  if (time <= 0 || *end != '\0') return usage("accesses wants MICROSECONDS and a PROGRAM");
  std::string answer;
  if (!search_aliases(argv + 2, std::chrono::microseconds(time), answer))
    return fail(kNotElf, "not-traced", answer);
  return finish(kOk, answer);
}

int run_sampling(const Arguments&) { return finish(kOk, to_json(try_sampling())); }

struct Command {
  std::string_view name;
  std::string_view options;  // of kOptions, by their letters
  bool reads_binary;
  int (*run)(const Arguments& arguments);
};
constexpr Command kCommands[] = {
    {"build", "cdwnFSs", true, run_build},  {"scope", "tslf", false, run_scope},
    {"lines", "tsF", false, run_lines},     {"locations", "dwp", true, run_locations},
    {"places", "dwp", true, run_locations},  // its former name
    {"layout", "cnu", true, run_layout},    {"breakpoints", "", false, run_breakpoints},
    {"sampling", "", false, run_sampling},
};

constexpr option kOptions[] = {
    {"cache-dir", required_argument, nullptr, 'c'},
    {"debug-dir", required_argument, nullptr, 'd'},
    {"debuginfod", no_argument, nullptr, 'w'},
    {"no-cache", no_argument, nullptr, 'n'},
    {"functions", no_argument, nullptr, 'F'},
    {"scope", no_argument, nullptr, 'S'},
    {"table", required_argument, nullptr, 't'},
    {"source-scope", required_argument, nullptr, 's'},
    {"line", required_argument, nullptr, 'l'},
    {"function", required_argument, nullptr, 'f'},
    {"location", required_argument, nullptr, 'p'},
    {"place", required_argument, nullptr, 'p'},  // its former name
    {"unit", required_argument, nullptr, 'u'},
    {},
};

bool take_unit(Arguments& out) {
  char* end = nullptr;
  out.units.push_back(static_cast<std::uint32_t>(std::strtoul(optarg, &end, 10)));
  if (end != optarg && *end == '\0') return true;
  usage("--unit wants a number, not " + std::string(optarg));
  return false;
}

// Takes one option; false, with a message, where its argument makes no sense.
bool take_option(int letter, Arguments& out) {
  switch (letter) {
    case 'c':
      out.build.cache_dir = optarg;
      return true;
    case 'd':
      out.build.search.folders.insert(out.build.search.folders.end() - 1, optarg);
      return true;
    case 'w':
      return out.build.search.debuginfod = true;
    case 'n':
      out.build.reuse_cached = false;
      return true;
    case 'F':
      return out.functions = out.build.functions = true;
    case 'S':
      return out.scope = true;
    case 't':
      out.table = optarg;
      return true;
    case 's':
      out.patterns.emplace_back(optarg);
      return true;
    case 'f':
      out.wanted_targets.functions.emplace_back(optarg);
      return true;
    case 'p':
      out.locations.emplace_back(optarg);
      return true;
    case 'u':
      return take_unit(out);
    default:
      break;
  }
  if (const auto location = parse_location(optarg)) {
    out.wanted_targets.lines.push_back({optarg, *location});
    return true;
  }
  usage("--line wants FILE:LINE, not " + std::string(optarg));
  return false;
}

// Runs a command that reads a program, which may be damaged or hostile.
int run_limited(const Command& command, const Arguments& arguments) {
  limit_process(arguments.build.binary, arguments.build.search.debuginfod);
  try {
    return command.run(arguments);
  } catch (const std::bad_alloc&) {
    end_out_of_memory();
  } catch (const std::length_error&) {  // a container asked for more than any memory
    end_out_of_memory();
  }
}

// argv[0] is the command's name.
int run_command(const Command& command, int argc, char** argv) {
  const std::string name(command.name);
  Arguments arguments;
  int letter = 0;
  int index = 0;
  while ((letter = getopt_long(argc, argv, "", kOptions, &index)) != -1) {
    if (letter == '?') return kUsage;  // getopt_long has said why
    if (command.options.find(static_cast<char>(letter)) == std::string_view::npos) {
      return usage(name + " has no option --" + kOptions[index].name);
    }
    if (!take_option(letter, arguments)) return kUsage;
  }
  const int operands = argc - optind;
  if (!command.reads_binary) {
    return operands == 0 ? command.run(arguments)
                         : usage("unexpected argument " + std::string(argv[optind]));
  }
  if (operands != 1) return usage(name + " wants one BINARY");
  arguments.build.binary = argv[optind];
  return run_limited(command, arguments);
}

int run(int argc, char** argv) {
  if (argc < 2) return usage("which command?");
  const std::string_view name = argv[1];
  if (name == "--help" || name == "-h") {
    std::fputs(kHelp, stdout);
    return std::fflush(stdout) == 0 ? int{kOk} : int{kCacheFailed};
  }
  if (name == "--version") return finish(kOk, "coz-linetable " COZ_VERSION);
  if (name == "accesses") return run_accesses(argc - 1, argv + 1);
  for (const Command& command : kCommands) {
    if (command.name == name) return run_command(command, argc - 1, argv + 1);
  }
  return usage("there is no command " + std::string(name));
}

}  // namespace
}  // namespace coz::linetable

int main(int argc, char** argv) { return coz::linetable::run(argc, argv); }
