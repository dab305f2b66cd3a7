#include "progress/placed_points.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

using namespace coz;

TEST_CASE("points that the command line asked for are read", "[points]") {
  std::vector<std::string> problems;
  const auto points = parse_placed_points(
      "throughput\thardware\t/bin/p\t1139\t/src/a.c:10\n"
      "begin\tbreakpoint\t/bin/p\t1139,ff00aa\tf,g\tx\n"
      "\n"
      "throughput\tsamples\t\t\t/src/a.c:12\n",
      problems);
  CHECK(problems.empty());
  REQUIRE(points.size() == 3);
  CHECK(points[0].kind == PointKind::kThroughput);
  CHECK(points[0].by == CountedBy::kHardware);
  CHECK(points[0].binary == "/bin/p");
  CHECK(points[0].addresses == std::vector<std::uint64_t>{0x1139});
  CHECK(points[1].kind == PointKind::kBegin);
  CHECK(points[1].addresses == std::vector<std::uint64_t>{0x1139, 0xff00aa});
  CHECK(points[1].name == "f,g\tx");
  CHECK(points[2].by == CountedBy::kSamples);
}

TEST_CASE("what is no point is left out and told", "[points]") {
  for (const char* bad :
       {"throughput", "never\thardware\t/b\t1\tn", "end\tluck\t/b\t1\tn",
        "end\thardware\t/b\t1g\tn", "end\thardware\t\t1\tn", "end\thardware\t/b\t\tn",
        "end\thardware\t/b\t1\t", "throughput\tsamples\t/b\t1\tn"}) {
    INFO(bad);
    std::vector<std::string> problems;
    CHECK(parse_placed_points(bad, problems).empty());
    CHECK(problems.size() == 1);
  }
}

TEST_CASE("an arrival without a mark", "[points]") {
  std::vector<std::string> problems;
  const auto points = parse_placed_points("arrival\tbreakpoint\t/bin/p\t1139\tf", problems);
  CHECK(problems.empty());
  REQUIRE(points.size() == 1);
  CHECK(points[0].kind == PointKind::kArrival);
}
