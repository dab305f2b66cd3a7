// The effect of a faster line on a workload: the true one, and the one that a profiler predicts.
#ifndef TESTS_ORACLE_EXPERIMENT_H
#define TESTS_ORACLE_EXPERIMENT_H

#include <span>
#include <vector>

#include "tests/oracle/model.h"
#include "tests/oracle/workloads.h"

namespace oracle {

// For dozens of visits of the slowest of workloads().
inline constexpr Nanoseconds kSettle = 250 * kMillisecond;

// Effective time between two visits to the progress point, ns, over `length` of simulated time
// after `settle`. The window is bounded by visits, as libcoz/progress does it.
double time_per_visit(const Workload& workload, const Settings& settings,
                      const Treatment& treatment, Nanoseconds length, Nanoseconds settle = kSettle);

struct Comparison {
  Line line;
  double speedup;    // of the line: 0.25 is a quarter less time
  double truth;      // of the time for a visit, in percent
  double predicted;  // likewise
  double error() const noexcept { return predicted - truth; }
};

inline constexpr double kSpeedups[] = {0.25, 0.50, 0.75};

// The first `lines` of the workload at each of `speedups`.
std::vector<Comparison> compare(const Workload& workload, const Settings& settings,
                                Nanoseconds length, Line lines, std::span<const double> speedups);
// Each line of the workload at each of kSpeedups.
std::vector<Comparison> compare(const Workload& workload, const Settings& settings,
                                Nanoseconds length);

struct Errors {
  double mean = 0;
  double worst = 0;
};
// Without signs.
Errors errors(const std::vector<Comparison>& comparisons);

}  // namespace oracle

#endif  // TESTS_ORACLE_EXPERIMENT_H
