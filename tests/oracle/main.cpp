// build/tests/oracle: the whole table of what the model predicts, beside what is true.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tests/oracle/crowd_profiles.h"
#include "tests/oracle/experiment.h"
#include "tests/oracle/queue_table.h"
#include "tests/oracle/wait_workloads.h"

namespace {

using oracle::Comparison;
using oracle::Rules;

constexpr const char* kUsage =
    "usage: oracle [--period MS] [--jitter SHARE] [--rules ours|classic] [--seconds S] [--seed N]\n"
    "              [--only PART_OF_NAME] [--brief]\n"
    "              [--waits]\n"
    "              [--queues [--held-out] [--profiles FOLDER]]\n"
    "              [--crowds --profiles FOLDER [--draw N]]\n"
    "              [--wake-up US] [--overshoot US] [--pause-cpu US]\n"
    "\n"
    "Prints, in percentage points, what happens to the time for a visit of the progress point "
    "when\n"
    "a line is really made faster in the model, what a profiler predicts, and the error. Without\n"
    "--rules: for both ours (at --period, 1 ms by default) and the classic ones (at 1 ms).\n"
    "\n"
    "--waits: instead, programs that wait for locks and devices, with waits that are shorter.\n"
    "\n"
    "--queues: instead, pipelines with queues, in windows as the experimenter measures them, for\n"
    "300 simulated seconds unless --seconds says otherwise. With --profiles, their profiles and\n"
    "true effects, for tests/oracle/profiles.py. --held-out: other pipelines.\n"
    "\n"
    "--crowds: profiles and true effects of programs with up to four times as many threads as\n"
    "cores, from 120 simulated seconds each. --draw N: with costs drawn at random, other ones for\n"
    "each N.\n"
    "\n"
    "--wake-up, --overshoot, --pause-cpu: what waking a thread takes, how late a sleep ends, and\n"
    "the processor time of a pause (30, 18 and 1 us).\n";

struct Options {
  oracle::Settings settings;
  std::vector<Rules> rules = {Rules::kOurs, Rules::kClassic};
  std::optional<double> seconds;
  bool waits = false;
  bool queues = false;
  bool held_out = false;
  bool crowds = false;
  std::uint64_t draw = 0;
  std::string only;
  bool brief = false;
  std::string profiles;
};

[[noreturn]] void fail_with_usage() {
  std::fputs(kUsage, stderr);
  std::exit(2);
}

double number(const char* text) {
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  if (end == text || *end != '\0' || value < 0) fail_with_usage();
  return value;
}

coz::Nanoseconds microseconds(const char* text) {
  return static_cast<coz::Nanoseconds>(number(text) * 1e3);
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--help") {
      std::fputs(kUsage, stdout);
      std::exit(0);
    }
    if (option == "--queues") {
      options.queues = true;
      continue;
    }
    if (option == "--waits") {
      options.waits = true;
      options.rules = {Rules::kOurs};
      continue;
    }
    if (option == "--held-out") {
      options.held_out = true;
      continue;
    }
    if (option == "--crowds") {
      options.crowds = true;
      continue;
    }
    if (option == "--brief") {
      options.brief = true;
      continue;
    }
    if (++i == argc) fail_with_usage();
    const std::string value = argv[i];
    if (option == "--period") {
      options.settings.period = static_cast<coz::Nanoseconds>(number(argv[i]) * 1e6);
    } else if (option == "--jitter") {
      options.settings.jitter = number(argv[i]);
    } else if (option == "--seconds") {
      options.seconds = number(argv[i]);
    } else if (option == "--wake-up") {
      options.settings.machine.wake_up = microseconds(argv[i]);
    } else if (option == "--overshoot") {
      options.settings.machine.overshoot = microseconds(argv[i]);
    } else if (option == "--pause-cpu") {
      options.settings.machine.pause_cpu = microseconds(argv[i]);
    } else if (option == "--seed") {
      options.settings.seed = static_cast<std::uint64_t>(number(argv[i]));
    } else if (option == "--draw") {
      options.draw = static_cast<std::uint64_t>(number(argv[i]));
    } else if (option == "--profiles") {
      options.profiles = value;
      std::filesystem::create_directories(options.profiles);
    } else if (option == "--only") {
      options.only = value;
    } else if (option == "--rules" && (value == "ours" || value == "classic")) {
      options.rules = {value == "ours" ? Rules::kOurs : Rules::kClassic};
    } else {
      fail_with_usage();
    }
  }
  if (options.crowds && options.profiles.empty()) fail_with_usage();
  if (options.settings.period <= 0 || options.seconds.value_or(1) <= 0) fail_with_usage();
  return options;
}

void print(const oracle::Workload& workload, const std::vector<Comparison>& comparisons) {
  std::printf("%s%s\n", workload.name.c_str(),
              workload.informational ? " (for information, not in the mean)" : "");
  for (const Comparison& comparison : comparisons) {
    const std::string& line = workload.lines[static_cast<std::size_t>(comparison.line)];
    std::printf("  %-12s %3.0f %%  %8.1f %9.1f %+8.1f\n", line.c_str(), 100 * comparison.speedup,
                comparison.truth, comparison.predicted, comparison.error());
  }
}

std::string title(const oracle::Settings& settings) {
  char text[80];
  std::snprintf(text, sizeof text, "%s, period %g ms",
                settings.rules == Rules::kOurs ? "our rules" : "classic rules",
                static_cast<double>(settings.period) / 1e6);
  return text;
}

struct Compared {
  const oracle::Workload& workload;
  std::vector<Comparison> comparisons;
};

std::vector<Compared> compare_all(const Options& options, const oracle::Settings& settings) {
  const auto length = static_cast<coz::Nanoseconds>(options.seconds.value_or(10) * 1e9);
  const auto is_wanted = [&](const oracle::Workload& workload) {
    return workload.name.find(options.only) != std::string::npos;
  };
  std::vector<Compared> all;
  if (options.waits) {
    for (const auto& each : oracle::wait_workloads()) {
      if (!is_wanted(each.program)) continue;
      all.push_back({each.program, oracle::compare_waits(each, settings, length)});
    }
    return all;
  }
  for (const auto& each : oracle::workloads()) {
    if (is_wanted(each)) all.push_back({each, oracle::compare(each, settings, length)});
  }
  return all;
}

void run(const Options& options, Rules rules) {
  oracle::Settings settings = options.settings;
  settings.rules = rules;
  if (options.rules.size() > 1 && rules == Rules::kClassic) settings.period = oracle::kMillisecond;
  std::printf("%s\n", title(settings).c_str());
  if (!options.brief) std::printf("  line         speedup   true predicted    error\n");
  std::vector<Comparison> all;
  for (const auto& [workload, comparisons] : compare_all(options, settings)) {
    const oracle::Errors errors = oracle::errors(comparisons);
    if (!options.brief) print(workload, comparisons);
    std::printf("  %-28s mean error %5.2f, worst %5.1f\n",
                options.brief ? workload.name.c_str() : "", errors.mean, errors.worst);
    if (!workload.informational) all.insert(all.end(), comparisons.begin(), comparisons.end());
  }
  const oracle::Errors errors = oracle::errors(all);
  std::printf("%s: mean error %.2f, worst %.1f points\n\n", title(settings).c_str(), errors.mean,
              errors.worst);
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  if (options.crowds) {
    oracle::write_crowd_profiles(
        {options.settings, options.profiles, options.only,
         static_cast<coz::Nanoseconds>(options.seconds.value_or(120) * 1e9), options.draw});
    return 0;
  }
  if (options.queues) {
    const oracle::QueueTable table{
        options.settings,
        options.only,
        static_cast<coz::Nanoseconds>(options.seconds.value_or(300) * 1e9),
        options.brief,
        options.held_out,
        options.profiles};
    options.profiles.empty() ? print_queue_table(table) : write_queue_profiles(table);
    return 0;
  }
  for (const Rules rules : options.rules) run(options, rules);
}
