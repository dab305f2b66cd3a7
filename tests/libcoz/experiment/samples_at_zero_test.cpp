// What is counted while no main target is sped up.
#include "experiment/samples_at_zero.h"

#include <catch2/catch.hpp>

using coz::Histogram;
using coz::SamplesAtZero;

namespace {

void sample(Histogram& histogram, std::uint32_t target, int times) {
  for (int i = 0; i < times; ++i) histogram.count(target, 0);
}

}  // namespace

TEST_CASE("samples and time under a speedup are left out") {
  Histogram histogram;
  REQUIRE(histogram.reserve(10));
  SamplesAtZero at_zero;
  sample(histogram, 3, 20);
  at_zero.begin_speedup(histogram, 1000);
  sample(histogram, 3, 5);
  sample(histogram, 4, 7);  // its first samples
  at_zero.end_speedup(histogram, 1400);
  sample(histogram, 3, 2);
  sample(histogram, 4, 1);
  at_zero.begin_speedup(histogram, 2000);
  sample(histogram, 4, 50);
  at_zero.end_speedup(histogram, 2500);

  CHECK(at_zero.of(histogram, 3, 3000).samples == 22);
  CHECK(at_zero.of(histogram, 4, 3000).samples == 1);
  CHECK(at_zero.of(histogram, 5, 3000).samples == 0);
  CHECK(at_zero.of(histogram, 3, 3000).time == 2100);
}
