#include "liblayout/switching.h"

#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

#include "tests/liblayout/sample_plan.h"

using namespace coz::layout;

namespace {

constexpr std::size_t kUnits = 2;
constexpr std::size_t kStubs = 0x2800;
constexpr std::int64_t kSecond = 0x500;  // from the first layout to the second one

// Two layouts, stubs, and slots behind the program.
struct Fixture : SampleProgram {
  std::vector<std::int64_t> moves{0x2000, 0x1100, 0x2000 + kSecond, 0x1100 + kSecond};
  std::span<std::uint64_t> slots{reinterpret_cast<std::uint64_t*>(image + 0x2900), kUnits};

  Fixture() {
    REQUIRE(coz::read_layout_plan(file, plan) == nullptr);
    image[0x103] = 0xe8;        // A calls B
    set(0x104, 0x140 - 0x108);  //
    image[0x143] = 0xe9;        // B jumps to A
    set(0x144, 0x100 - 0x148);  //
    set(0x800, 0x148 - 0x800);  // a jump table
    set(0x804, 0x700 - 0x800);  // what is none of B's
  }

  [[nodiscard]] Layouts layouts(bool has_tables = true) {
    return {plan, image, moves, slots, has_tables};
  }
  [[nodiscard]] Program program(std::size_t layout) {
    return {plan, image, layouts().of(layout), image + kStubs};
  }
  // Where the stub of an entry leads, relative to the program.
  [[nodiscard]] std::int64_t stub_target(std::size_t entry) const {
    const std::size_t stub = kStubs + entry * kStubSize;
    std::uint64_t slot;
    std::memcpy(&slot, image + target(stub + 3), sizeof slot);
    return static_cast<std::int64_t>(slot - reinterpret_cast<std::uint64_t>(image));
  }
};

}  // namespace

TEST_CASE("calls of other functions and jumps to them lead to stubs", "[layout]") {
  Fixture f;
  const auto copy = [&] {
    for (std::size_t i = 0; i < 2; ++i) REQUIRE(copy_units(f.program(i)));
  };
  copy();
  constexpr auto kStubOfA = static_cast<std::int64_t>(kStubs);
  constexpr auto kStubOfB = static_cast<std::int64_t>(kStubs + kStubSize);
  CHECK(f.target(0x104 + 0x2000) == kStubOfB);
  CHECK(f.target(0x104 + 0x2000 + kSecond) == kStubOfB);
  CHECK(f.target(0x144 + 0x1100) == kStubOfA);
  f.image[0x142] = 0x0f;  // if (…) goto A
  f.image[0x143] = 0x84;
  copy();
  CHECK(f.target(0x144 + 0x1100 + kSecond) == kStubOfA);
}

TEST_CASE("what leads into the middle of a function stays in its layout", "[layout]") {
  Fixture f;
  f.set(0x144, 0x108 - 0x148);
  for (std::size_t i = 0; i < 2; ++i) REQUIRE(copy_units(f.program(i)));
  CHECK(f.target(0x144 + 0x1100) == 0x108 + 0x2000);
  CHECK(f.target(0x144 + 0x1100 + kSecond) == 0x108 + 0x2000 + kSecond);
  f.image[0x143] = 0x05;  // an address that is no branch's target
  f.set(0x144, 0x100 - 0x148);
  REQUIRE(copy_units(f.program(1)));
  CHECK(f.target(0x144 + 0x1100 + kSecond) == 0x100 + 0x2000 + kSecond);
}

TEST_CASE("a copy that lies where another layout has it is made once", "[layout]") {
  Fixture f;
  f.moves[3] = f.moves[1];
  REQUIRE(copy_units(f.program(0)));
  f.image[0x145 + 0x1100] = 0x77;
  Program second = f.program(1);
  second.made = f.layouts().of(0);
  REQUIRE(copy_units(second));
  CHECK(f.image[0x145 + 0x1100] == 0x77);
  CHECK(f.image[0x103 + 0x2000 + kSecond] == 0xe8);
}

TEST_CASE("a call of a function that begins with endbr64 leads to the stub, too", "[layout]") {
  Fixture f;
  constexpr std::uint8_t kEndbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
  f.set(0x104, 0x13c - 0x108);
  REQUIRE(copy_units(f.program(0)));
  CHECK(f.target(0x104 + 0x2000) == 0x13c + 0x1100);  // it is not known what stands before B
  std::memcpy(f.image + 0x13c, kEndbr64, sizeof kEndbr64);
  REQUIRE(copy_units(f.program(0)));
  CHECK(f.target(0x104 + 0x2000) == static_cast<std::int64_t>(kStubs + kStubSize));
}

TEST_CASE("stubs, entries and tables lead to the selected layout", "[layout]") {
  Fixture f;
  REQUIRE(lead_to_copies(f.program(0)));
  REQUIRE(write_stubs(f.layouts(), f.image + kStubs));
  select_layout(f.layouts(), 0, 0);
  CHECK(f.target(0x101) == static_cast<std::int64_t>(kStubs));  // the original of A
  CHECK(f.stub_target(0) == 0x100 + 0x2000);
  CHECK(0x800 + f.get(0x800) == 0x148 + 0x1100);

  select_layout(f.layouts(), 0, 1);
  CHECK(f.stub_target(0) == 0x100 + 0x2000 + kSecond);
  CHECK(f.stub_target(1) == 0x140 + 0x1100 + kSecond);
  CHECK(0x800 + f.get(0x800) == 0x148 + 0x1100 + kSecond);
  CHECK(0x800 + f.get(0x804) == 0x700);

  select_layout(f.layouts(), 1, 0);
  CHECK(f.stub_target(1) == 0x140 + 0x1100);
  CHECK(0x800 + f.get(0x800) == 0x148 + 0x1100);
}

TEST_CASE("addresses of labels are left alone", "[layout]") {
  Fixture f;
  f.sample.tables = {{0x800, 1, 8, 0x800}};
  f.file = f.sample.bytes();
  REQUIRE(coz::read_layout_plan(f.file, f.plan) == nullptr);
  const auto label = reinterpret_cast<std::uint64_t>(f.image) + 0x148 + 0x1100;
  std::memcpy(f.image + 0x800, &label, sizeof label);
  select_layout(f.layouts(), 0, 1);
  CHECK(std::memcmp(f.image + 0x800, &label, sizeof label) == 0);
}

TEST_CASE("unwinders find the return address of stubs", "[layout]") {
  alignas(8) std::array<std::uint8_t, kStubFramesSize> table{};
  const std::array<std::uint8_t, 16> stubs{};
  write_stub_frames(stubs.data(), stubs.size(), table.data());
  std::uint32_t size;
  std::uint64_t extent[2];
  std::memcpy(&size, table.data(), sizeof size);
  REQUIRE(size + 4 == 24);
  std::memcpy(extent, table.data() + 32, sizeof extent);
  CHECK(extent[0] == reinterpret_cast<std::uint64_t>(stubs.data()));
  CHECK(extent[1] == stubs.size());
  CHECK(table[28] == 28);  // back to the CIE
  CHECK(table[56] + table[57] + table[58] + table[59] == 0);
}

TEST_CASE("tables between code keep the first layout", "[layout]") {
  Fixture f;
  REQUIRE(lead_to_copies(f.program(0)));
  select_layout(f.layouts(false), 0, 1);
  CHECK(0x800 + f.get(0x800) == 0x148 + 0x1100);
}

TEST_CASE("a slot out of a stub's reach is told", "[layout]") {
  Fixture f;
  const Layouts layouts{f.plan, f.image, f.moves, f.slots, true};
  auto* const far = reinterpret_cast<std::uint8_t*>(f.slots.data()) + (std::int64_t{1} << 33);
  const std::span<std::uint64_t> slots{reinterpret_cast<std::uint64_t*>(far), kUnits};
  CHECK_FALSE(write_stubs({f.plan, f.image, f.moves, slots, true}, f.image + kStubs));
  CHECK(layouts.count() == 2);
}
