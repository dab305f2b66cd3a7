#include "tests/oracle/crowd_profiles.h"

#include <fstream>

#include "tests/oracle/crowds.h"
#include "tests/oracle/experiment.h"
#include "tests/oracle/truths.h"
#include "tests/oracle/windows.h"

namespace oracle {
namespace {

// Simulated; leaves the truth an error of some tenths of a point.
constexpr Nanoseconds kHeld = 40 * kSecond;
constexpr Nanoseconds kSettles = 10 * kSecond;  // long queues
constexpr int kTrueSpeedups[] = {25, 50, 75};

void write_truths(std::ostream& to, const Crowd& crowd, const Settings& settings) {
  const Workload program = workload(crowd);
  const double baseline = time_per_visit(program, settings, {}, kHeld, kSettles);
  for (Line line = 0; line < static_cast<Line>(program.lines.size()); ++line) {
    for (const int speedup : kTrueSpeedups) {
      const Treatment faster{Treatment::Kind::kReal, line, speedup / 100.0};
      const double treated = time_per_visit(program, settings, faster, kHeld, kSettles);
      write_truth(to, program.name, line, speedup, 1 - treated / baseline);
    }
  }
}

}  // namespace

void write_crowd_profiles(const CrowdProfiles& profiles) {
  std::ofstream truths(profiles.folder + "/truth.jsonl", std::ios::app);
  for (const Crowd& crowd : crowds(profiles.draw)) {
    const Workload program = workload(crowd);
    if (program.name.find(profiles.only) == std::string::npos) continue;
    Windows windows(program, profiles.settings, {});
    windows.measure_for(profiles.length);
    windows.write(profiles.folder + "/" + program.name + ".coz");
    write_truths(truths, crowd, profiles.settings);
  }
}

}  // namespace oracle
