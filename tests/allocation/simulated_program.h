// Programs of many lines with known truth, for choosing targets: no threads, only what a window
// measures (tests/cozcli/combined_profiles.py has the same shapes).
//
//   serial    one thread runs all lines
//   join      two threads with equal work wait for each other each round
//   pipeline  three stages with queues between them: the slowest sets the pace, nearly
//   lock      two threads run all lines, each fourth one under a lock
//
// Shares are heavy-tailed. Windows scatter by 3.4 %, blocks by 1 %; samples are Poisson counts, and
// a line gains what its samples delayed.
#ifndef TESTS_ALLOCATION_SIMULATED_PROGRAM_H
#define TESTS_ALLOCATION_SIMULATED_PROGRAM_H

#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include "common/clock.h"

namespace allocation {

enum class Shape { kSerial, kJoin, kPipeline, kLock };

struct WindowResult {
  coz::Nanoseconds delay = 0;
  std::uint64_t visits = 0;
  coz::Nanoseconds elapsed = 0;        // effective, of the visits
  std::vector<std::uint32_t> samples;  // of each line
};

class SimulatedProgram {
 public:
  SimulatedProgram(Shape shape, std::size_t lines, std::uint32_t seed);

  std::size_t lines() const noexcept { return work_.size(); }
  // Part of the time in which the line runs.
  double share(std::size_t line) const { return work_[line]; }
  // What the line saves if it is really faster by `speedup`, a fraction.
  double truth(std::size_t line, double speedup) const;

  // The machine's speed changes from block to block.
  void begin_block();
  // A window of the real `length` in which each line has its speedup, a fraction.
  WindowResult measure(const std::vector<double>& speedups, coz::Nanoseconds length);

 private:
  double period(const std::vector<double>& work) const;

  Shape shape_;
  std::vector<double> work_;  // parts of the period
  std::mt19937_64 random_;
  double drift_ = 1;
};

}  // namespace allocation

#endif  // TESTS_ALLOCATION_SIMULATED_PROGRAM_H
