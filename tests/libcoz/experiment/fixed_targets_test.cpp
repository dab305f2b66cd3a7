#include "experiment/fixed_targets.h"

#include <catch2/catch.hpp>
#include <map>
#include <memory>

#include "experiment/earlier_samples.h"

using namespace coz;

namespace {

struct Program {
  Modules modules;
  CallPaths paths;
  RegionRegistry regions;
  std::unique_ptr<WaitSites> waits = std::make_unique<WaitSites>();
  Histogram histogram;
  Targets targets{modules, paths, regions, *waits, Granularity::kLine};

  Program() { REQUIRE(histogram.reserve(targets.count())); }

  std::uint32_t enter(const char* region) {
    return Targets::of_region(regions.find_or_add(region).value());
  }
};

}  // namespace

TEST_CASE("a chosen region is there once it has been entered") {
  Program program;
  const std::vector<TargetName> names = {{"region", "a"}, {"region", "b"}};
  FixedTargets fixed(names, program.targets, program.histogram);
  TargetSelector selector;
  Random random(1);
  CHECK_FALSE(fixed.empty());
  CHECK_FALSE(fixed.draw(selector, random));
  CHECK_FALSE(fixed.draw_any(random));
  program.enter("other");
  CHECK_FALSE(fixed.draw(selector, random));
  const std::uint32_t b = program.enter("b");
  CHECK(fixed.draw(selector, random) == b);
  CHECK(fixed.draw_any(random) == b);
}

TEST_CASE("chosen targets that are sampled are drawn equally often, the others not at all") {
  Program program;
  const std::vector<TargetName> names = {{"region", "a"}, {"region", "b"}, {"region", "c"}};
  const std::uint32_t a = program.enter("a");
  const std::uint32_t b = program.enter("b");
  const std::uint32_t c = program.enter("c");
  FixedTargets fixed(names, program.targets, program.histogram);
  Random random(2);
  const auto draw = [&] {
    TargetSelector selector;
    std::map<std::uint32_t, int> drawn;
    for (int i = 0; i < 3000; ++i) ++drawn[fixed.draw(selector, random).value()];
    return drawn;
  };
  // None yet: each may be the one.
  CHECK(draw().size() == 3);
  for (int i = 0; i < 50; ++i) program.histogram.count(a, kNoFunction);
  program.histogram.count(b, kNoFunction);
  const auto drawn = draw();
  CHECK(drawn.at(a) == Approx(1500).margin(30));
  CHECK(drawn.at(b) == Approx(1500).margin(30));
  CHECK(drawn.count(c) == 0);
}

TEST_CASE("a kind that the granularity does not have is not found") {
  Program program;
  program.enter("f");
  CHECK_FALSE(program.targets.find({"function", "f"}));
  CHECK_FALSE(program.targets.find({"line", "f"}));
  CHECK(program.targets.find({"region", "f"}));
}

TEST_CASE("a class of waits is found by its name") {
  const Program program;
  const auto all = program.targets.find({"wait", "(all sleep)"});
  REQUIRE(all);
  CHECK(program.targets.describe(*all, kNoFunction).location == "wait (all sleep)");
  CHECK(program.targets.find({"lock", "(all)"}));
  CHECK_FALSE(program.targets.find({"wait", "(all lock)"}));
}

TEST_CASE("samples of earlier runs are found once the program has been there") {
  Program program;
  coz::EarlierSamples earlier({kSecond, 5, {{{"region", "f"}, 7}}});
  earlier.find_missing(program.targets);
  CHECK(earlier.targets().empty());
  program.enter("f");
  for (int i = 0; i < 2; ++i) earlier.find_missing(program.targets);
  REQUIRE(earlier.targets().size() == 1);
  CHECK(earlier.of(earlier.targets()[0].target) == 7);
}

TEST_CASE("a chosen target's location is that of its results") {
  CHECK(location_of({"line", "/src/a.c:10"}) == "/src/a.c:10");
  CHECK(location_of({"function", "/src/a.c:f"}) == "/src/a.c:f");
  const std::string longer(200, 'x');
  Program program;
  const std::uint32_t region = program.enter(longer.c_str());
  CHECK(location_of({"region", longer}) == program.targets.describe(region, kNoFunction).location);
}
