#include "patch/displaced.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

using namespace coz;
using Bytes = std::vector<std::uint8_t>;

namespace {

constexpr std::uint64_t kHere = 0x401000;

// What becomes of the registers.
Registers after(const Bytes& bytes, Registers registers) {
  const auto instruction = decode(bytes);
  REQUIRE(instruction);
  REQUIRE(is_emulated(*instruction));
  emulate(*instruction, kHere, registers);
  return registers;
}

std::int32_t displacement_at(const Slot& slot, std::size_t position) {
  std::int32_t value = 0;
  std::memcpy(&value, slot.data() + position, sizeof value);
  return value;
}

}  // namespace

TEST_CASE("an instruction is copied with a jump back", "[breakpoint]") {
  const Bytes bytes = {0x48, 0x89, 0xe5};
  Slot slot;
  REQUIRE(fill_slot(*decode(bytes), bytes, kHere, 0x10000, slot));
  CHECK(std::memcmp(slot.data(), bytes.data(), 3) == 0);
  const Bytes jump = {0xff, 0x25, 0, 0, 0, 0, 0x03, 0x10, 0x40, 0, 0, 0, 0, 0};
  CHECK(std::memcmp(slot.data() + 3, jump.data(), jump.size()) == 0);
}

TEST_CASE("an operand relative to rip still names the same address", "[breakpoint]") {
  const Bytes load = {0x48, 0x8b, 0x05, 0x10, 0x00, 0x00, 0x00};          // mov 0x10(%rip),%rax
  const Bytes store = {0xc7, 0x05, 0x10, 0, 0, 0, 0x2a, 0, 0, 0};         // movl $42,0x10(%rip)
  const Bytes vector = {0xc5, 0xf9, 0x6f, 0x05, 0xf0, 0xff, 0xff, 0xff};  // vmovdqa -0x10(%rip)
  struct Case {
    Bytes bytes;
    std::size_t position;
    std::int64_t displacement;
  };
  for (const Case& one : {Case{load, 3, 0x10}, Case{store, 2, 0x10}, Case{vector, 4, -0x10}}) {
    for (const std::uint64_t slot_address : {kHere - 0x100000, kHere + 0x7000000}) {
      Slot slot;
      REQUIRE(fill_slot(*decode(one.bytes), one.bytes, kHere, slot_address, slot));
      const std::int64_t moved = displacement_at(slot, one.position);
      CHECK(static_cast<std::int64_t>(slot_address) + moved ==
            static_cast<std::int64_t>(kHere) + one.displacement);
    }
  }
  Slot slot;
  CHECK_FALSE(fill_slot(*decode(load), load, kHere, kHere + (std::uint64_t{1} << 33), slot));
}

TEST_CASE("jumps are emulated", "[breakpoint]") {
  CHECK(after({0xeb, 0x10}, {}).rip == kHere + 2 + 0x10);
  CHECK(after({0xe9, 0x00, 0xff, 0xff, 0xff}, {}).rip == kHere + 5 - 0x100);
}

TEST_CASE("conditions are those of the processor", "[breakpoint]") {
#if defined(__x86_64__)
  // Every condition under every combination of flags, against setcc.
  const auto real = [](unsigned condition, std::uint64_t flags) {
    std::uint8_t result = 0;
#define COZ_TEST_CONDITION(number, name)                                                 \
  case number:                                                                           \
    asm volatile("push %1\n popfq\n set" name " %0" : "=r"(result) : "r"(flags) : "cc"); \
    break
    switch (condition) {
      COZ_TEST_CONDITION(0, "o");
      COZ_TEST_CONDITION(1, "no");
      COZ_TEST_CONDITION(2, "b");
      COZ_TEST_CONDITION(3, "ae");
      COZ_TEST_CONDITION(4, "e");
      COZ_TEST_CONDITION(5, "ne");
      COZ_TEST_CONDITION(6, "be");
      COZ_TEST_CONDITION(7, "a");
      COZ_TEST_CONDITION(8, "s");
      COZ_TEST_CONDITION(9, "ns");
      COZ_TEST_CONDITION(10, "p");
      COZ_TEST_CONDITION(11, "np");
      COZ_TEST_CONDITION(12, "l");
      COZ_TEST_CONDITION(13, "ge");
      COZ_TEST_CONDITION(14, "le");
      COZ_TEST_CONDITION(15, "g");
    }
#undef COZ_TEST_CONDITION
    return result != 0;
  };
  for (unsigned condition = 0; condition < 16; ++condition) {
    for (unsigned bits = 0; bits < 32; ++bits) {
      const std::uint64_t flags = 0x202U | (bits & 1U) | (bits & 2U) << 1 | (bits & 4U) << 4 |
                                  (bits & 8U) << 4 | (bits & 16U) << 7;
      Registers registers;
      registers.flags = flags;
      INFO(condition << " " << flags);
      const bool jumped =
          after({static_cast<std::uint8_t>(0x70 + condition), 0x10}, registers).rip != kHere + 2;
      CHECK(jumped == real(condition, flags));
    }
  }
#endif
}

TEST_CASE("loops count down", "[breakpoint]") {
  Registers registers;
  registers.general[1] = 2;
  CHECK(after({0xe2, 0x10}, registers).rip == kHere + 0x12);
  CHECK(after({0xe2, 0x10}, registers).general[1] == 1);
  CHECK(after({0xe3, 0x10}, registers).rip == kHere + 2);  // jrcxz does not count
  CHECK(after({0xe3, 0x10}, registers).general[1] == 2);
  registers.general[1] = 1;
  CHECK(after({0xe2, 0x10}, registers).rip == kHere + 2);
  registers.general[1] = 5;
  registers.flags = 0x40;
  CHECK(after({0xe1, 0x10}, registers).rip == kHere + 0x12);
  CHECK(after({0xe0, 0x10}, registers).rip == kHere + 2);
  registers.general[1] = 0;
  CHECK(after({0xe3, 0x10}, registers).rip == kHere + 0x12);
}

TEST_CASE("calls push where they return to", "[breakpoint]") {
  std::uint64_t stack[4] = {1, 2, 3, 4};
  std::uint64_t table[4] = {0, 0, 0x777000, 0};
  Registers registers;
  registers.general[4] = reinterpret_cast<std::uint64_t>(&stack[2]);
  registers.general[0] = 0x555000;
  registers.general[9] = reinterpret_cast<std::uint64_t>(table);
  registers.general[10] = 1;

  Registers then = after({0xe8, 0x10, 0, 0, 0}, registers);
  CHECK(then.rip == kHere + 5 + 0x10);
  CHECK(then.general[4] == reinterpret_cast<std::uint64_t>(&stack[1]));
  CHECK(stack[1] == kHere + 5);

  then = after({0xff, 0xd0}, registers);  // call *%rax
  CHECK(then.rip == 0x555000);
  CHECK(stack[1] == kHere + 2);

  then = after({0x43, 0xff, 0x54, 0xd1, 0x08}, registers);  // call *8(%r9,%r10,8)
  CHECK(then.rip == 0x777000);
  CHECK(stack[1] == kHere + 5);

  stack[3] = 0x999000;
  then = after({0xff, 0x54, 0x24, 0x08}, registers);  // call *8(%rsp), read before the push
  CHECK(then.rip == 0x999000);
}
