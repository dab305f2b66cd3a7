#include "tests/allocation/allocation.h"

#include <catch2/catch.hpp>

using allocation::Profiler;
using allocation::Shape;
using allocation::SimulatedProgram;

namespace {

struct Blocks {
  double useful = 0;   // in the first 40 s, on lines that save 5 % or more at 50 %
  double useless = 0;  // after 80 s, on large lines that save less than half a percent
};

// For each of some simulated programs of `shape`.
Blocks blocks_of(Shape shape, bool plans) {
  Blocks blocks;
  constexpr std::uint32_t kPrograms = 12;
  for (std::uint32_t seed = 1; seed <= kPrograms; ++seed) {
    SimulatedProgram program(shape, 60, seed);
    Profiler profiler(program, seed, plans);
    const auto add = [&](double& sum, double sign, auto counts) {
      for (std::size_t line = 0; line < program.lines(); ++line) {
        if (counts(line)) sum += sign * profiler.blocks()[line] / kPrograms;
      }
    };
    const auto matters = [&](std::size_t line) { return program.truth(line, 0.5) >= 0.05; };
    const auto cannot = [&](std::size_t line) {
      return program.truth(line, 0.5) < 0.005 && program.share(line) > 0.05;
    };
    profiler.run_until(40 * coz::kSecond);
    add(blocks.useful, 1, matters);
    profiler.run_until(80 * coz::kSecond);
    add(blocks.useless, -1, cannot);
    profiler.run_until(120 * coz::kSecond);
    add(blocks.useless, 1, cannot);
  }
  return blocks;
}

}  // namespace

TEST_CASE("lines that matter get more blocks than by their samples, those that cannot fewer") {
  const Shape shape = GENERATE(Shape::kSerial, Shape::kPipeline, Shape::kLock);
  const Blocks planned = blocks_of(shape, true);
  const Blocks by_samples = blocks_of(shape, false);
  CAPTURE(planned.useless, by_samples.useless);
  CHECK(planned.useful > 1.2 * by_samples.useful);
  CHECK(planned.useless <= by_samples.useless);
}

TEST_CASE("of a simulated program, truths follow from its shape") {
  SimulatedProgram serial(Shape::kSerial, 20, 1);
  double shares = 0;
  for (std::size_t line = 0; line < serial.lines(); ++line) {
    shares += serial.share(line);
    CHECK(serial.truth(line, 0.5) == Approx(serial.share(line) / 2));
  }
  CHECK(shares == Approx(1));
}
