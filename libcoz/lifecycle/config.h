// What `coz run` asked for: every COZ_* variable (docs/launch_contract.md), read once.
#ifndef LIBCOZ_LIFECYCLE_CONFIG_H
#define LIBCOZ_LIFECYCLE_CONFIG_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/experiment_options.h"
#include "lifecycle/attach_request.h"

namespace coz {

struct Config : ExperimentOptions {
  std::string program;
  std::string output;
  std::string line_tables;
  std::string source_scope;
  std::string binary_scope;
  std::string points;  // those that the command line asked for
  std::string version;
  // Where `coz run` is asked for tables of modules that are loaded later.
  std::optional<int> table_socket;
  Granularity granularity = Granularity::kLine;
  bool tree = false;  // forked children are profiled with this process
  // The file that this process shares with programs that processes of the tree execute, and its
  // inode; empty: none.
  std::string tree_file;
  std::uint64_t tree_inode = 0;
  // The programs that take part when processes of the tree execute them; this one's index there.
  std::vector<std::string> tree_programs;
  std::optional<std::size_t> tree_program;
  bool is_executed = false;  // this is such a program, and not the launched process
  std::string joint;         // the file that ranks of a job share; empty: none

  // From the answer of `coz run` to an attach request. Takes the answer's socket over.
  static Config from_attach_answer(const AttachAnswer& answer);

  // nullopt if this process is not one to be profiled. May ask `coz run` and wait for its answer
  // (attach_request.h).
  static std::optional<Config> from_environment();
};

// COZ_FORKED: the process to be profiled is one that this process forks.
struct Forked {
  std::uint64_t generations = 1;  // 1: a child; 2: a child of a child
  int pipe = -1;                  // open as long as there may be one; inherited from `coz run`
  std::uint64_t inode = 0;        // the pipe's
  std::string socket_path;        // where a child asks whether it is the one

  // nullopt if that was not asked for, or this is not the process that forks it.
  static std::optional<Forked> from_environment();
};

// COZ_FIXED_TARGETS: `KIND<TAB>NAME`, one a line.
std::vector<TargetName> parse_fixed_targets(std::string_view text);

// COZ_SPEEDUPS: whole numbers from 1 to 100 with commas between them; anything else is left out.
std::vector<int> parse_speedups(std::string_view text);

// COZ_EARLIER_SAMPLES: `TIME<TAB>EXPERIMENTS`, then `KIND<TAB>NAME<TAB>SAMPLES`, one a line;
// nothing if the first line is not so. Lines that are not so are left out.
EarlierRuns parse_earlier_samples(std::string_view text);

// COZ_COMPANIONS: per cent above 0 and up to 50, as a fraction; 0 for anything else.
double parse_companion_dose(std::string_view text);

}  // namespace coz

#endif  // LIBCOZ_LIFECYCLE_CONFIG_H
