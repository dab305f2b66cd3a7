// Programs with more threads than cores, of which the analysis is right (tests/oracle/profiles.py,
// `make oracle-crowds`): what the model says of them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/oracle/crowds.h"
#include "tests/oracle/experiment.h"

using oracle::Crowd;
using oracle::kSecond;
using oracle::Settings;
using oracle::Shape;

TEST_CASE("oracle: where all cores are busy, a line saves its share of their time") {
  // Of 1.65 ms of work on each item, 1 ms are in line 2.
  const oracle::Workload pool = oracle::workload({Shape::kPool, 2, 8});
  for (const oracle::Comparison& each : oracle::compare(pool, Settings{}, 4 * kSecond)) {
    if (each.line != 2) continue;
    CHECK(std::abs(each.truth - 100 * each.speedup / 1.65) < 1.5);
  }
}

TEST_CASE("oracle: with enough cores, crowds are predicted as other programs are") {
  for (const Shape shape : {Shape::kPool, Shape::kLock, Shape::kForkJoin}) {
    const oracle::Workload workload = oracle::workload({shape, 4, 4});
    INFO(workload.name);
    const oracle::Errors errors =
        oracle::errors(oracle::compare(workload, Settings{}, 4 * kSecond));
    CHECK(errors.mean <= 2.2);
    CHECK(errors.worst <= 6.5);
  }
}

TEST_CASE("oracle: crowds of all sizes have their own titles, and other draws other costs") {
  const auto all = oracle::crowds(0);
  CHECK(all.size() == 140);
  CHECK(oracle::title(all.front()) == "pipeline, 2 threads, 1 cores");
  CHECK(oracle::title({Shape::kLock, 2, 8, 3}) == "lock, 8 threads, 2 cores, draw 3");
  const auto period = [](std::uint64_t draw) {
    return oracle::time_per_visit(oracle::workload({Shape::kLock, 2, 8, draw}), Settings{}, {},
                                  kSecond);
  };
  CHECK(period(1) == period(1));
  CHECK(period(1) != period(2));
}
