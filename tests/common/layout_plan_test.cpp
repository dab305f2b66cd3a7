#include "common/layout_plan.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

#include "tests/liblayout/sample_plan.h"

using coz::LayoutPlan;
using coz::read_layout_plan;

TEST_CASE("a layout plan is read as it was written", "[layout]") {
  const SamplePlan sample;
  const auto bytes = sample.bytes();
  LayoutPlan plan;
  REQUIRE(read_layout_plan(bytes, plan) == nullptr);
  CHECK(plan.units.size() == sample.units.size());
  CHECK(plan.fixups_of(0).size() == 1);
  CHECK(plan.fixups_of(1).size() == 2);
  CHECK(plan.frames[0].common == 0);
}

TEST_CASE("a plan that was cut off, or is of another version, is refused", "[layout]") {
  auto bytes = SamplePlan().bytes();
  LayoutPlan plan;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    INFO(size);
    REQUIRE(read_layout_plan(std::span(bytes).first(size), plan) != nullptr);
  }
  bytes[8] = std::byte{99};
  REQUIRE(read_layout_plan(bytes, plan) == std::string("is of another version of coz"));
}

TEST_CASE("what would lead outside of the program is refused", "[layout]") {
  const auto refused = [](auto change) {
    SamplePlan sample;
    change(sample);
    LayoutPlan plan;
    return read_layout_plan(sample.bytes(), plan) != nullptr;
  };
  CHECK_FALSE(refused([](SamplePlan&) {}));
  CHECK(refused([](SamplePlan& s) { s.units[1].begin = s.units[0].begin; }));
  CHECK(refused([](SamplePlan& s) { s.units[1].size = 1 << 20; }));
  CHECK(refused([](SamplePlan& s) { s.units[0].first_fixup = 1; }));
  CHECK(refused([](SamplePlan& s) { s.units[1].first_fixup = 9; }));
  CHECK(refused([](SamplePlan& s) { s.fixups[0].at += 64; }));
  CHECK(refused([](SamplePlan& s) { s.fixups[0].unit = 2; }));
  CHECK(refused([](SamplePlan& s) { s.entries[0].at = 0xffffffff; }));
  CHECK(refused([](SamplePlan& s) { s.tables[0].width = 2; }));
  CHECK(refused([](SamplePlan& s) { s.commons[0].size = 1 << 20; }));
  CHECK(refused([](SamplePlan& s) { s.frames[0].common = 1; }));
  CHECK(refused([](SamplePlan& s) { s.frames[0].begin_width = 0; }));
  CHECK(refused([](SamplePlan& s) { s.frames[0].pointer_offset = 0x20; }));
  CHECK(refused([](SamplePlan& s) { s.header.alignment = 12; }));
}
