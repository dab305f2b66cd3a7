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

// A page of a program, and behind it two layouts, stubs, and slots.
struct Fixture {
  SamplePlan sample;
  std::vector<std::byte> file = sample.bytes();
  coz::LayoutPlan plan;
  alignas(8) std::array<std::uint8_t, 0x3000> memory{};
  std::uint8_t* image = memory.data();
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
  void set(std::size_t at, std::int32_t value) { std::memcpy(image + at, &value, sizeof value); }
  [[nodiscard]] std::int64_t get(std::size_t at) const {
    std::int32_t value;
    std::memcpy(&value, image + at, sizeof value);
    return value;
  }
  [[nodiscard]] std::int64_t target(std::size_t at) const {
    return static_cast<std::int64_t>(at) + 4 + get(at);
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

TEST_CASE("calls lead to stubs, and jumps to the same layout", "[layout]") {
  Fixture f;
  for (std::size_t i = 0; i < 2; ++i) REQUIRE(copy_units(f.program(i)));
  constexpr auto kStubOfB = static_cast<std::int64_t>(kStubs + kStubSize);
  CHECK(f.target(0x104 + 0x2000) == kStubOfB);
  CHECK(f.target(0x104 + 0x2000 + kSecond) == kStubOfB);
  CHECK(f.target(0x144 + 0x1100) == 0x100 + 0x2000);
  CHECK(f.target(0x144 + 0x1100 + kSecond) == 0x100 + 0x2000 + kSecond);
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
