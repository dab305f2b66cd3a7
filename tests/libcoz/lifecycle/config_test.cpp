#include "lifecycle/config.h"

#include <catch2/catch.hpp>

using coz::parse_companion_dose;
using coz::parse_earlier_samples;
using coz::parse_fixed_targets;
using coz::parse_speedups;

TEST_CASE("chosen targets are read, one a line") {
  CHECK(parse_fixed_targets("").empty());
  const auto targets = parse_fixed_targets("line\t/src/a b.c:3\nregion\tpart two\n\nfunction\n");
  REQUIRE(targets.size() == 2);
  CHECK(targets[0].kind == "line");
  CHECK(targets[0].name == "/src/a b.c:3");
  CHECK(targets[1].kind == "region");
  CHECK(targets[1].name == "part two");
}

TEST_CASE("chosen speedups are read, and anything else is left out") {
  CHECK(parse_speedups("").empty());
  CHECK(parse_speedups("25,50,100") == std::vector<int>{25, 50, 100});
  CHECK(parse_speedups("0,25,25,x,-5,101,99999999999,7x,") == std::vector<int>{25});
}

TEST_CASE("the limit of the companions' dose is per cent; anything else means none") {
  CHECK(parse_companion_dose("5") == Approx(0.05));
  CHECK(parse_companion_dose("7.5") == Approx(0.075));
  for (const char* text : {"", "0", "-1", "51", "5x", "nan", "much"}) {
    CHECK(parse_companion_dose(text) == 0);
  }
}

TEST_CASE("samples of earlier runs are read; a line that is not so is left out") {
  const auto runs = parse_earlier_samples("1500\t7\nline\t/a b.c:3\t20\nfunction\tf\nline\tx\ty\n");
  CHECK(runs.run_time == 1500);
  CHECK(runs.experiments == 7);
  REQUIRE(runs.counts.size() == 1);
  CHECK(runs.counts[0].target.kind == "line");
  CHECK(runs.counts[0].target.name == "/a b.c:3");
  CHECK(runs.counts[0].samples == 20);
}

TEST_CASE("without a time there are no earlier runs") {
  for (const char* text : {"", "line\tx:1\t3", "-5\t1\nline\tx:1\t3", "99999999999999999\t1"}) {
    CHECK(parse_earlier_samples(text).run_time == 0);
    CHECK(parse_earlier_samples(text).counts.empty());
  }
}
