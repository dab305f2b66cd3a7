#include "experiment/line_selector.h"

#include <catch2/catch.hpp>
#include <map>
#include <vector>

using coz::draw_line;
using coz::LineSamples;
using coz::Random;

namespace {

constexpr int kDraws = 100000;

std::map<std::uint32_t, double> shares(const std::vector<LineSamples>& lines, std::uint64_t seed) {
  Random random(seed);
  std::map<std::uint32_t, double> drawn;
  for (int i = 0; i < kDraws; ++i) {
    const auto line = draw_line(lines, random);
    REQUIRE(line);
    drawn[*line] += 1.0 / kDraws;
  }
  return drawn;
}

// Five standard deviations of a share drawn kDraws times, at the most.
constexpr double kMargin = 0.008;

}  // namespace

TEST_CASE("no line is drawn where none has samples") {
  Random random(1);
  CHECK_FALSE(draw_line({}, random));
  CHECK_FALSE(draw_line(std::vector<LineSamples>{{1, 0}, {2, 0}}, random));
}

TEST_CASE("the only line with samples is always drawn") {
  const auto drawn = shares({{1, 0}, {2, 5}, {3, 0}}, 1);
  CHECK(drawn.size() == 1);
  CHECK(drawn.contains(2));
}

TEST_CASE("lines are drawn in proportion to their samples, in whatever order they are given") {
  const std::uint64_t seed = GENERATE(1, 2);
  auto drawn = shares({{10, 500}, {20, 300}, {30, 200}}, seed);
  CHECK(drawn[10] == Approx(0.5).margin(kMargin));
  CHECK(drawn[20] == Approx(0.3).margin(kMargin));
  CHECK(drawn[30] == Approx(0.2).margin(kMargin));
  drawn = shares({{30, 200}, {10, 500}, {20, 300}}, seed);
  CHECK(drawn[10] == Approx(0.5).margin(kMargin));
  CHECK(drawn[30] == Approx(0.2).margin(kMargin));
}

TEST_CASE("a line that is rare, but not mere noise, is drawn as often as the floor says") {
  auto drawn = shares({{1, 9949}, {2, 50}, {3, 1}}, 3);
  const double all = 0.9949 + coz::kFloor + 0.0001;
  CHECK(drawn[2] == Approx(coz::kFloor / all).margin(0.002));  // 0.5 % of the samples
  CHECK(drawn[3] < 0.0005);                                    // noise has no floor
}

TEST_CASE("the floor begins at its bound") {
  auto drawn = shares({{1, 99210}, {2, 400}, {3, 390}}, 4);
  CHECK(drawn[2] == Approx(0.015).margin(0.002));
  CHECK(drawn[3] == Approx(0.0039).margin(0.001));
}

TEST_CASE("the same seed draws the same lines") {
  const std::vector<LineSamples> lines = {{1, 10}, {2, 20}, {3, 30}};
  Random a(7);
  Random b(7);
  Random c(8);
  int same_as_c = 0;
  for (int i = 0; i < 200; ++i) {
    const auto line = draw_line(lines, a);
    REQUIRE(line == draw_line(lines, b));
    same_as_c += line == draw_line(lines, c);
  }
  CHECK(same_as_c < 150);
}
