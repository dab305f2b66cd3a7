#include "progress/location_point.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

using namespace coz;

TEST_CASE("points that the command line asked for are read", "[points]") {
  std::vector<std::string> problems;
  const auto points = parse_location_points(
      "throughput\thardware\t/bin/p\t1139\t/src/a.c:10\n"
      "begin\tbreakpoint\t/bin/p\t1139=55//,ff00aa=e800000000/9090/\tf,g\tx\n"
      "\n"
      "throughput\tsamples\t\t\t/src/a.c:12\n",
      problems);
  CHECK(problems.empty());
  REQUIRE(points.size() == 3);
  CHECK(points[0].kind == PointKind::kThroughput);
  CHECK(points[0].by == CountedBy::kHardware);
  CHECK(points[0].binary == "/bin/p");
  REQUIRE(points[0].entries.size() == 1);
  CHECK(points[0].entries[0].address == 0x1139);
  CHECK_FALSE(points[0].entries[0].plan);
  CHECK(points[1].kind == PointKind::kBegin);
  REQUIRE(points[1].entries.size() == 2);
  CHECK(points[1].entries[0].plan->original == std::vector<std::uint8_t>{0x55});
  CHECK(points[1].entries[1].address == 0xff00aa);
  CHECK(points[1].entries[1].plan->original.size() == 5);
  CHECK(points[1].name == "f,g\tx");
  CHECK(points[2].by == CountedBy::kSamples);
}

TEST_CASE("what is not a point is left out and reported", "[points]") {
  for (const char* bad :
       {"throughput", "never\thardware\t/b\t1\tn", "end\tluck\t/b\t1\tn",
        "end\thardware\t/b\t1g\tn", "end\thardware\t\t1\tn", "end\thardware\t/b\t\tn",
        "end\thardware\t/b\t1\t", "throughput\tsamples\t/b\t1\tn",
        "end\tjump\t/b\t1=55//\tn",      // of earlier versions
        "end\tbreakpoint\t/b\t1\tn",     // without a plan
        "end\tbreakpoint\t/b\t1=55\tn",  // no plan
        "end\thardware\t/b\t1=55//d9\tn"}) {
    INFO(bad);
    std::vector<std::string> problems;
    CHECK(parse_location_points(bad, problems).empty());
    CHECK(problems.size() == 1);
  }
}

TEST_CASE("an arrival at a location", "[points]") {
  std::vector<std::string> problems;
  const auto points = parse_location_points("arrival\tbreakpoint\t/bin/p\t1139=55//\tf", problems);
  CHECK(problems.empty());
  REQUIRE(points.size() == 1);
  CHECK(points[0].kind == PointKind::kArrival);
}
