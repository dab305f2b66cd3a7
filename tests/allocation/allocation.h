// The experimenter's choices on a simulated program: which target, which companions, which
// speedups, by the runtime's own rules, in simulated time.
#ifndef TESTS_ALLOCATION_ALLOCATION_H
#define TESTS_ALLOCATION_ALLOCATION_H

#include <cstdint>
#include <string>
#include <vector>

#include "experiment/companions.h"
#include "experiment/speedup_plan.h"
#include "experiment/target_planner.h"
#include "profile_log/profile_writer.h"
#include "target/targets.h"
#include "tests/allocation/simulated_program.h"

namespace allocation {

class Profiler {
 public:
  // `plans`: blocks go where they decide something; else they are drawn by samples.
  Profiler(SimulatedProgram& program, std::uint64_t seed, bool plans);

  // The profile that `coz report` reads; not at all unless this is called.
  void write_to(coz::ProfileWriter* log);
  // Whole blocks until the simulated time is over.
  void run_until(coz::Nanoseconds time);

  // How many blocks each line has had as the main target.
  const std::vector<int>& blocks() const noexcept { return blocks_; }
  int blocks_of_companions() const noexcept { return companions_only_; }

 private:
  void run_window(std::uint32_t target, int speedup);
  void write_window(std::uint32_t target, int speedup, const WindowResult& result,
                    const std::vector<coz::PointResult>& points);
  void write_samples();
  coz::TargetDescription describe(std::uint32_t target) const;

  SimulatedProgram& program_;
  bool plans_;
  coz::Random random_;
  coz::Histogram histogram_;
  coz::EarlierSamples earlier_;
  coz::TargetPlanner planner_;
  coz::Companions companions_;
  coz::SpeedupPlan plan_;
  coz::ProfileWriter* log_ = nullptr;
  coz::Nanoseconds now_ = 0;
  coz::Nanoseconds run_time_ = 0;
  std::uint64_t block_ = 0;
  std::uint64_t windows_ = 0;
  std::vector<int> blocks_;
  int companions_only_ = 0;
  coz::Nanoseconds next_checkpoint_;
};

}  // namespace allocation

#endif  // TESTS_ALLOCATION_ALLOCATION_H
