#include "tests/oracle/experiment.h"

#include <algorithm>
#include <cmath>

namespace oracle {
namespace {

// After the window: for the visit that ends it.
constexpr Nanoseconds kLastVisit = 250 * kMillisecond;

double effect_in_percent(double baseline, double treated) { return 100 * (1 - treated / baseline); }

}  // namespace

double time_per_visit(const Workload& workload, const Settings& settings,
                      const Treatment& treatment, Nanoseconds length, Nanoseconds settle) {
  World world(settings, treatment, workload.cores);
  workload.build(world);
  coz::EdgeVisit& edge = world.point().edge;
  world.run_until(settle);
  edge.request();
  world.run_until(settle + length);
  if (!edge.is_taken()) return std::nan("");
  const coz::Visit first = edge.visit();
  edge.request();
  world.run_until(settle + length + kLastVisit);
  const coz::Visit last = edge.visit();
  return static_cast<double>(last.time - first.time) /
         static_cast<double>(last.number - first.number);
}

std::vector<Comparison> compare(const Workload& workload, const Settings& settings,
                                Nanoseconds length) {
  return compare(workload, settings, length, static_cast<Line>(workload.lines.size()), kSpeedups);
}

std::vector<Comparison> compare(const Workload& workload, const Settings& settings,
                                Nanoseconds length, Line lines, std::span<const double> speedups) {
  const double baseline = time_per_visit(workload, settings, {}, length);
  std::vector<Comparison> comparisons;
  for (Line line = 0; line < lines; ++line) {
    for (const double speedup : speedups) {
      const auto effect = [&](Treatment::Kind kind) {
        const Treatment treatment{kind, line, speedup};
        return effect_in_percent(baseline, time_per_visit(workload, settings, treatment, length));
      };
      comparisons.push_back(
          {line, speedup, effect(Treatment::Kind::kReal), effect(Treatment::Kind::kVirtual)});
    }
  }
  return comparisons;
}

Errors errors(const std::vector<Comparison>& comparisons) {
  Errors all;
  for (const Comparison& comparison : comparisons) {
    const double error = std::abs(comparison.error());
    all.mean += error / static_cast<double>(comparisons.size());
    all.worst = std::max(all.worst, error);
  }
  return all;
}

}  // namespace oracle
