#include "tests/allocation/simulated_program.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

namespace allocation {
namespace {

constexpr double kPeriod = 2e6;        // of the program, ns
constexpr double kSamplePeriod = 1e6;  // ns
constexpr double kNoise = 0.034;
constexpr double kDrift = 0.01;
constexpr double kLargest = 0.25;
// Threads that join need a little more or less for each round.
constexpr double kJitter = 0.03;
constexpr double kLeast = 1e-4;

double sum_of(const std::vector<double>& work, std::size_t first, std::size_t step) {
  double sum = 0;
  for (std::size_t i = first; i < work.size(); i += step) sum += work[i];
  return sum;
}

// The mean of the longer one.
double joined(double left, double right) {
  const double scatter = kJitter * std::hypot(left, right);
  const double distance = (left - right) / scatter;
  const double below = 0.5 * std::erfc(-distance / std::numbers::sqrt2);
  const double density = std::exp(-distance * distance / 2) / std::sqrt(2 * std::numbers::pi);
  return left * below + right * (1 - below) + scatter * density;
}

double slowest(const std::array<double, 3>& stages) {
  const double largest = *std::max_element(stages.begin(), stages.end());
  double sum = 0;
  for (const double stage : stages) sum += std::pow(stage / largest, 16);
  return largest * std::pow(sum, 1.0 / 16);
}

}  // namespace

SimulatedProgram::SimulatedProgram(Shape shape, std::size_t lines, std::uint32_t seed)
    : shape_(shape), work_(lines), random_(seed * 1000 + lines) {
  std::uniform_real_distribution<double> uniform(0, 1);
  for (double& work : work_) work = std::pow(1 - uniform(random_), -1 / 1.1);
  for (int i = 0; i < 20; ++i) {
    const double most = kLargest * sum_of(work_, 0, 1);
    for (double& work : work_) work = std::min(work, most);
  }
  if (shape == Shape::kJoin) {
    for (const std::size_t side : {0U, 1U}) {
      const double sum = sum_of(work_, side, 2);
      for (std::size_t i = side; i < lines; i += 2) work_[i] /= sum;
    }
  }
  const double whole = period(work_);
  for (double& work : work_) work /= whole;
}

double SimulatedProgram::period(const std::vector<double>& work) const {
  switch (shape_) {
    case Shape::kSerial:
      return sum_of(work, 0, 1);
    case Shape::kJoin:
      return joined(sum_of(work, 0, 2), sum_of(work, 1, 2));
    case Shape::kPipeline:
      return slowest({sum_of(work, 0, 3), sum_of(work, 1, 3), sum_of(work, 2, 3)});
    case Shape::kLock: {
      const double locked = sum_of(work, 0, 4);
      const double whole = sum_of(work, 0, 1);
      return (whole + locked * locked / whole) / 2;
    }
  }
  return 0;
}

double SimulatedProgram::truth(std::size_t line, double speedup) const {
  std::vector<double> work = work_;
  work[line] *= 1 - speedup;
  return 1 - period(work);
}

void SimulatedProgram::begin_block() {
  drift_ = std::exp(std::normal_distribution<double>(0, kDrift)(random_));
}

WindowResult SimulatedProgram::measure(const std::vector<double>& speedups,
                                       coz::Nanoseconds length) {
  std::vector<double> faster(work_.size());
  double delayed = 0;  // for each effective time
  for (std::size_t i = 0; i < work_.size(); ++i) {
    faster[i] = work_[i] * std::max(1 - speedups[i], kLeast);
    delayed += work_[i] * speedups[i];
  }
  const double expected = period(faster);
  // The window has the real `length`: what is delayed is not measured.
  const double effective = static_cast<double>(length) * expected / (expected + delayed);
  const double noise =
      drift_ * std::exp(std::normal_distribution<double>(
                   0, kNoise * std::sqrt(static_cast<double>(length) / effective))(random_));
  const double visits = effective / (kPeriod * noise * expected);
  WindowResult result;
  double delay = 0;
  for (std::size_t i = 0; i < work_.size(); ++i) {
    const double mean = visits * kPeriod * work_[i] / kSamplePeriod;
    const auto samples = static_cast<std::uint32_t>(std::poisson_distribution<long>(mean)(random_));
    result.samples.push_back(samples);
    const double gained = speedups[i] * samples * kSamplePeriod / (visits * kPeriod);
    faster[i] = std::max(work_[i] - gained, kLeast * work_[i]);
    delay += speedups[i] * samples * kSamplePeriod;
  }
  result.delay = static_cast<coz::Nanoseconds>(delay);
  result.visits = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(visits));
  result.elapsed = static_cast<coz::Nanoseconds>(static_cast<double>(result.visits) * kPeriod *
                                                 noise * period(faster));
  return result;
}

}  // namespace allocation
