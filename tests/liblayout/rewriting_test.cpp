#include "liblayout/rewriting.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

#include "tests/liblayout/sample_plan.h"

using namespace coz::layout;

namespace {

struct Fixture : SampleProgram {
  std::vector<std::int64_t> moves{0x2000, 0x1100};

  Fixture() {
    REQUIRE(coz::read_layout_plan(file, plan) == nullptr);
    set(0x104, 0x140 - 0x108);      // A calls B
    set(0x144, 0x100 - 0x148);      // B calls A
    set(0x150, 0x900 - 0x154);      // B reads data
    set(0x800, 0x148 - 0x800);      // a jump table
    set(0x804, 0x700 - 0x800);      // what is none of B's
    set(0xa10, 0x123);              // the personality, by its distance
    set(0xa18 + 8, 0x140 - 0xa20);  // a frame of B
    set(0xa18 + 0x14, 0x456);       // its data
  }

  [[nodiscard]] Program program() const { return {plan, image, moves}; }
};

}  // namespace

TEST_CASE("copies call copies, and read the same data", "[layout]") {
  Fixture f;
  REQUIRE(copy_units(f.program()));
  CHECK(f.target(0x104 + 0x2000) == 0x140 + 0x1100);
  CHECK(f.target(0x144 + 0x1100) == 0x100 + 0x2000);
  CHECK(f.target(0x150 + 0x1100) == 0x900);
  CHECK(f.target(0x104) == 0x140);  // the originals still call each other
}

TEST_CASE("entries and tables lead to copies", "[layout]") {
  Fixture f;
  REQUIRE(lead_to_copies(f.program()));
  CHECK(f.image[0x100] == 0xe9);
  CHECK(f.target(0x101) == 0x100 + 0x2000);
  CHECK(f.target(0x141) == 0x140 + 0x1100);
  CHECK(0x800 + f.get(0x800) == 0x148 + 0x1100);
  CHECK(0x800 + f.get(0x804) == 0x700);  // it did not lead into B, so it is left alone
}

TEST_CASE("unwind entries describe copies", "[layout]") {
  Fixture f;
  constexpr std::size_t kOut = 0x2800;
  REQUIRE(frames_size(f.plan) >= 0x18 + 0x20 + 4);
  REQUIRE(copy_frames(f.program(), f.image + kOut));
  const std::size_t frame = kOut + 0x18;
  CHECK(static_cast<std::int64_t>(kOut) + 0x10 + f.get(kOut + 0x10) == 0xa10 + 0x123);
  CHECK(f.get(frame + 4) == 0x1c);  // back to what frames have in common
  CHECK(static_cast<std::int64_t>(frame) + 8 + f.get(frame + 8) == 0x140 + 0x1100);
  CHECK(static_cast<std::int64_t>(frame) + 0x14 + f.get(frame + 0x14) == 0xa18 + 0x14 + 0x456);
  CHECK(f.get(frame + 0x20) == 0);
}

TEST_CASE("a distance that does not fit is told", "[layout]") {
  Fixture f;
  f.set(0x150, INT32_MIN);
  CHECK_FALSE(copy_units(f.program()));
}
