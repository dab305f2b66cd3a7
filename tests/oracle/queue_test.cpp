// How far windows on programs with queues are from the truth, with queue settling and without.
//
// Queues that take longer to settle than the experimenter waits are left to the analysis
// (profiles.py). `build/tests/oracle --queues` prints the table of all shapes, items and
// capacities.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>

#include "tests/oracle/queue_table.h"

using oracle::Care;
using oracle::Effects;
using oracle::Errors;
using oracle::kSecond;
using oracle::Pipeline;
using oracle::Settings;
using Kind = oracle::Treatment::Kind;

namespace {

constexpr int kItemsHeld = 20000;
constexpr coz::Nanoseconds kLength = 300 * kSecond;

// Items of 10 ms, queues of 8.
const Pipeline& shape(const std::string& name) {
  const auto& all = oracle::pipeline_shapes();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Pipeline& pipeline) { return pipeline.shape == name; });
  if (found == all.end()) FAIL("no shape " << name);
  return *found;
}

Errors errors_of(const Pipeline& pipeline, const Care& care, const Effects& truth) {
  return oracle::errors(oracle::predict(pipeline, Settings{}, care, kLength, truth).comparisons);
}

void check(const std::string& name, int capacity, double most_mean, double most_worst) {
  INFO(name << ", " << capacity);
  Pipeline pipeline = shape(name);
  pipeline.capacity = capacity;
  const Effects truth = oracle::held_effects(pipeline, Settings{}, Kind::kReal, kItemsHeld);
  const Errors waits = errors_of(pipeline, {true, true}, truth);
  CHECK(waits.mean <= most_mean);
  CHECK(waits.worst <= most_worst);
  const Errors without = errors_of(pipeline, {false, false}, truth);
  CHECK(without.mean > 1.5 * waits.mean);
  CHECK(without.worst > 1.5 * waits.worst);
}

}  // namespace

TEST_CASE("oracle: windows that open in steady state see the pace that lasts") {
  check("2, last slow", 8, 1.4, 5.0);
  check("pool", 8, 2.5, 8.0);
}

TEST_CASE("oracle: with a speedup that holds for a whole run, queues leave no error") {
  const Pipeline& pool = shape("pool");
  const Effects truth = oracle::held_effects(pool, Settings{}, Kind::kReal, kItemsHeld / 4);
  for (const auto& [key, effect] :
       oracle::held_effects(pool, Settings{}, Kind::kVirtual, kItemsHeld / 4)) {
    CHECK(std::abs(effect - truth.at(key)) <= 0.4);
  }
}
