// coz-linetable: writes and examines line tables. The commands are described in
// docs/launch_contract.md; `coz run` is their usual caller.
#include <getopt.h>

#include <cstdio>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "common/json.h"
#include "linetable/cache/build_table.h"
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

enum ExitStatus {
  kOk = 0,
  kUsage = 2,
  kNoDebugInfo = 3,
  kNotElf = 4,
  kCacheFailed = 5
};  // and kLimitReached

constexpr const char* kHelp =
    R"(usage: coz-linetable build [--cache-dir DIR] [--debug-dir DIR]... [--debuginfod] [--no-cache]
                            [--functions] BINARY
       coz-linetable scope --table T [--source-scope PATTERN]... [--line FILE:LINE]...
                           [--function NAME]...
       coz-linetable lines --table T [--source-scope PATTERN]... [--functions]
       coz-linetable places [--debug-dir DIR]... --place NAME... BINARY
       coz-linetable breakpoints
       coz-linetable sampling
       coz-linetable --help | --version

build  reads the debug information of BINARY and writes its line table into the cache
  --cache-dir DIR         where tables are kept (default: $XDG_CACHE_HOME/coz or ~/.cache/coz)
  --debug-dir DIR         where separate debug files are looked for before /usr/lib/debug
  --debuginfod            asks the servers in $DEBUGINFOD_URLS for what is not on this machine
  --no-cache              builds the table anew even if there is a good one
  --functions             adds functions that are known by symbols and unwind tables alone, where
                          there is no debug information
scope  says which source files and lines are in scope
lines  lists every line in scope, or every function
places says where breakpoints have to stand that count visits to lines or functions of BINARY
  --place NAME            FILE:LINE, FUNCTION or FILE:FUNCTION; % stands for any characters
breakpoints  says which kinds of breakpoints there are here, and what a visit costs, in nanoseconds
sampling  says which ways of sampling the kernel refuses, and why
  --table T               the table, as build printed it
  --source-scope PATTERN  files to include; % stands for any characters (default: all but system
                          headers, standard libraries and downloaded packages)
  --line FILE:LINE        also says what this names; so does --function NAME
  --functions             lists functions instead of lines
)";

struct Arguments {
  BuildOptions build;
  std::string table;
  std::vector<std::string_view> patterns;
  Choices choices;
  bool functions = false;
  std::vector<std::string> places;
};

int usage(const std::string& message) {
  std::fprintf(stderr, "coz-linetable: %s (see coz-linetable --help)\n", message.c_str());
  return kUsage;
}

void print_line(const std::string& text) { std::printf("%s\n", text.c_str()); }

// Output that nobody could be given is an error too (a full disk, a closed pipe).
int finish(int status) { return std::fflush(stdout) == 0 ? status : int{kCacheFailed}; }

// A command that reads a program.
int run_limited(const Arguments& arguments, int (*command)(const Arguments&)) {
  const std::string& binary = arguments.build.binary;
  limit_process(binary, arguments.build.search.debuginfod);
  try {
    return command(arguments);
  } catch (const std::bad_alloc&) {
    end_out_of_memory();
  } catch (const std::length_error&) {  // a container asked for more than any memory
    end_out_of_memory();
  }
}

int run_build(const Arguments& arguments) {
  const BuildResult result = build_table(arguments.build);
  print_line(to_json(result));
  switch (result.error) {
    case BuildError::kNone:
      return finish(kOk);
    case BuildError::kNoDebugInfo:
      return finish(kNoDebugInfo);
    case BuildError::kNotElf:
      return finish(kNotElf);
    case BuildError::kCache:
      break;
  }
  return finish(kCacheFailed);
}

int run_locations(const Arguments& arguments) {
  LocationQuery query;
  query.binary = arguments.build.binary;
  query.debug_dirs = arguments.build.search.folders;
  query.names = arguments.places;
  std::vector<LocationAnswer> answers;
  std::string error;
  if (find_locations(query, answers, error)) {
    print_line(to_json(answers));
    return finish(kOk);
  }
  JsonWriter json;
  json.begin_object().field("error", "not-elf").field("message", error).end_object();
  print_line(json.text());
  return finish(kNotElf);
}

int run_query(std::string_view command, const Arguments& arguments) {
  LineTable table;
  if (const char* error = LineTable::open(arguments.table.c_str(), table)) {
    JsonWriter json;
    json.begin_object().key("error").value("cache");
    json.key("message").value(arguments.table + ": " + error).end_object();
    print_line(json.text());
    return finish(kCacheFailed);
  }
  const SourceScope scope(arguments.patterns);
  if (command == "scope") {
    print_line(describe_scope(table, scope, arguments.choices));
  } else {
    list_lines(table, scope, arguments.functions, print_line);
  }
  return finish(kOk);
}

constexpr option kBuildOptions[] = {
    {"cache-dir", required_argument, nullptr, 'c'}, {"debug-dir", required_argument, nullptr, 'd'},
    {"debuginfod", no_argument, nullptr, 'w'},      {"no-cache", no_argument, nullptr, 'n'},
    {"functions", no_argument, nullptr, 'F'},       {},
};
constexpr option kScopeOptions[] = {
    {"table", required_argument, nullptr, 't'},
    {"source-scope", required_argument, nullptr, 's'},
    {"line", required_argument, nullptr, 'l'},
    {"function", required_argument, nullptr, 'f'},
    {},
};
constexpr option kLocationsOptions[] = {
    {"debug-dir", required_argument, nullptr, 'd'},
    {"place", required_argument, nullptr, 'p'},
    {},
};
constexpr option kLinesOptions[] = {
    {"table", required_argument, nullptr, 't'},
    {"source-scope", required_argument, nullptr, 's'},
    {"functions", no_argument, nullptr, 'F'},
    {},
};

// False when an option makes no sense; getopt_long has then said why, or this has.
bool parse_options(int argc, char** argv, const option* options, Arguments& out) {
  std::vector<std::string> debug_dirs;
  int choice = 0;
  while ((choice = getopt_long(argc, argv, "", options, nullptr)) != -1) {
    switch (choice) {
      case 'c':
        out.build.cache_dir = optarg;
        break;
      case 'd':
        debug_dirs.emplace_back(optarg);
        break;
      case 'w':
        out.build.search.debuginfod = true;
        break;
      case 'n':
        out.build.reuse_cached = false;
        break;
      case 'p':
        out.places.emplace_back(optarg);
        break;
      case 't':
        out.table = optarg;
        break;
      case 's':
        out.patterns.emplace_back(optarg);
        break;
      case 'l':
        if (const auto location = parse_location(optarg)) {
          out.choices.lines.push_back({optarg, *location});
          break;
        }
        usage("--line wants FILE:LINE, not " + std::string(optarg));
        return false;
      case 'f':
        out.choices.functions.emplace_back(optarg);
        break;
      case 'F':
        out.functions = true;
        break;
      default:
        return false;
    }
  }
  std::vector<std::string>& folders = out.build.search.folders;
  folders.insert(folders.begin(), debug_dirs.begin(), debug_dirs.end());
  return true;
}

int run(int argc, char** argv) {
  if (argc < 2) return usage("which command?");
  const std::string_view command = argv[1];
  if (command == "--help" || command == "-h") {
    std::fputs(kHelp, stdout);
    return finish(kOk);
  }
  if (command == "--version") {
    print_line("coz-linetable " COZ_VERSION);
    return finish(kOk);
  }
  // argv[1] takes the place of the program's name, as far as getopt_long is concerned.
  Arguments arguments;
  --argc;
  ++argv;
  if (command == "build") {
    if (!parse_options(argc, argv, kBuildOptions, arguments)) return kUsage;
    if (argc - optind != 1) return usage("build wants one BINARY");
    arguments.build.binary = argv[optind];
    arguments.build.functions = arguments.functions;
    return run_limited(arguments, run_build);
  }
  if (command == "breakpoints") {
    if (argc > 1) return usage("breakpoints wants no arguments");
    print_line(to_json(measure_breakpoints()));
    return finish(kOk);
  }
  if (command == "sampling") {
    if (argc > 1) return usage("sampling wants no arguments");
    print_line(to_json(try_sampling()));
    return finish(kOk);
  }
  if (command == "places") {
    if (!parse_options(argc, argv, kLocationsOptions, arguments)) return kUsage;
    if (argc - optind != 1) return usage("places wants one BINARY");
    if (arguments.places.empty()) return usage("places wants --place");
    arguments.build.binary = argv[optind];
    return run_limited(arguments, run_locations);
  }
  if (command != "scope" && command != "lines") {
    return usage("there is no command " + std::string(command));
  }
  const option* options = command == "scope" ? kScopeOptions : kLinesOptions;
  if (!parse_options(argc, argv, options, arguments)) return kUsage;
  if (argc != optind) return usage("unexpected argument " + std::string(argv[optind]));
  if (arguments.table.empty()) return usage(std::string(command) + " wants --table");
  return run_query(command, arguments);
}

}  // namespace
}  // namespace coz::linetable

int main(int argc, char** argv) { return coz::linetable::run(argc, argv); }
