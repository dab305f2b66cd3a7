#include "patch/slot.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

using namespace coz;
using Bytes = std::vector<std::uint8_t>;

namespace {

constexpr std::uint64_t kHere = 0x401000;

template <typename Number>
Number number_at(const Slot& slot, std::size_t offset) {
  Number value = 0;
  std::memcpy(&value, slot.data() + offset, sizeof value);
  return value;
}

}  // namespace

TEST_CASE("a slot ends with a jump behind the original", "[patch]") {
  const Bytes move = {0x48, 0x89, 0xe5};
  Slot slot;
  REQUIRE(fill_slot({move, move, 0, {}, 0}, {kHere, 0, 0x10000}, slot));
  CHECK(std::memcmp(slot.data(), move.data(), 3) == 0);
  const Bytes jump = {0xff, 0x25, 0, 0, 0, 0, 0x03, 0x10, 0x40, 0, 0, 0, 0, 0};
  CHECK(std::memcmp(slot.data() + 3, jump.data(), jump.size()) == 0);

  // The length is that of the original, not of the code.
  REQUIRE(fill_slot({{0x74, 0x10}, move, 0, {}, 0}, {kHere, 0, 0x10000}, slot));
  CHECK(number_at<std::uint64_t>(slot, 9) == kHere + 2);
}

TEST_CASE("an operand relative to rip still names the same address", "[patch]") {
  const Bytes load = {0x48, 0x8b, 0x05, 0x10, 0x00, 0x00, 0x00};          // mov 0x10(%rip),%rax
  const Bytes store = {0xc7, 0x05, 0x10, 0, 0, 0, 0x2a, 0, 0, 0};         // movl $42,0x10(%rip)
  const Bytes vector = {0xc5, 0xf9, 0x6f, 0x05, 0xf0, 0xff, 0xff, 0xff};  // vmovdqa -0x10(%rip)
  struct Case {
    Bytes bytes;
    std::uint8_t position;
    std::int64_t displacement;
  };
  for (const Case& one : {Case{load, 3, 0x10}, Case{store, 2, 0x10}, Case{vector, 4, -0x10}}) {
    const PatchPlan plan{one.bytes, one.bytes, one.position, {}, 0};
    for (const std::uint64_t slot_address : {kHere - 0x100000, kHere + 0x7000000}) {
      Slot slot;
      REQUIRE(fill_slot(plan, {kHere, 0, slot_address}, slot));
      CHECK(static_cast<std::int64_t>(slot_address) + number_at<std::int32_t>(slot, one.position) ==
            static_cast<std::int64_t>(kHere) + one.displacement);
    }
    Slot slot;
    CHECK_FALSE(fill_slot(plan, {kHere, 0, kHere + (std::uint64_t{1} << 33)}, slot));
  }
}

TEST_CASE("addresses in a slot move with the file", "[patch]") {
  // push [rip + 6], jmp [rip + 8], two addresses
  Bytes code = {0xff, 0x35, 6, 0, 0, 0, 0xff, 0x25, 8, 0, 0, 0};
  code.resize(28);
  code[13] = 0x10;  // 0x1000
  code[21] = 0x20;  // 0x2000
  Slot slot;
  REQUIRE(fill_slot({{0xe8, 0, 0, 0, 0}, code, 0, {12, 20}, 8},
                    {0x7f0000001000, 0x7f0000000000, 0x7f0000100000}, slot));
  CHECK(number_at<std::uint64_t>(slot, 12) == 0x7f0000001000);
  CHECK(number_at<std::uint64_t>(slot, 20) == 0x7f0000002000);
}
