#include "lifecycle/point_totals.h"

#include <array>
#include <catch2/catch.hpp>
#include <memory>
#include <string>

using coz::describe_point;
using coz::Nanoseconds;
using coz::Point;
using coz::PointKind;
using coz::PointRegistry;

namespace {

std::string described(const Point& point) {
  std::array<char, 512> line;
  return {line.data(), describe_point(point, line)};
}

}  // namespace

TEST_CASE("totals of a throughput point have visits of all threads, and no times") {
  const auto points = std::make_unique<PointRegistry>();
  Point& point = *points->find_or_add(PointKind::kThroughput, "done");
  for (std::uint32_t slot = 0; slot < 20; ++slot) point.visit([] { return Nanoseconds{5}; }, slot);
  point.counter.count += 3;
  CHECK(described(point) == "throughput\t23\t0\t0\tdone\n");
}

TEST_CASE("totals of a latency point have the sum of its times") {
  const auto points = std::make_unique<PointRegistry>();
  Point& point = *points->find_or_add(PointKind::kEnd, "step");
  for (Nanoseconds time : {10, 20, 40}) point.visit([=] { return time; });
  CHECK(described(point) == "end\t3\t3\t70\tstep\n");
}

TEST_CASE("totals: a name cannot end a line or a field, and the longest one fits") {
  const auto points = std::make_unique<PointRegistry>();
  CHECK(described(*points->find_or_add(PointKind::kBegin, "a\tb\nc")) == "begin\t0\t0\t0\ta b c\n");
  const std::string longest(2 * Point::kMaxName, 'x');
  Point& point = *points->find_or_add(PointKind::kThroughput, longest.c_str());
  point.counter.count = ~std::size_t{0};
  const std::string line = described(point);
  CHECK(line.size() < 512);
  CHECK(line.back() == '\n');
  CHECK(line.find('\0') == std::string::npos);
}
