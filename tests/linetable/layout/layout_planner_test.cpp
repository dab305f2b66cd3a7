#include "linetable/layout/layout_planner.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <vector>

using namespace coz::linetable;
using coz::kStays;
using Bytes = std::vector<std::uint8_t>;

namespace {

constexpr std::uint32_t kText = 0x1000;
constexpr std::uint32_t kConstants = 0x3000;

// A program of a text section that grows, and constants.
struct Code {
  Bytes text;
  Bytes constants = Bytes(64);
  ProgramCode program;

  // A function at the next multiple of 16, filled with breakpoints before it.
  std::uint32_t function(const char* name, const Bytes& bytes, std::size_t alignment = 16) {
    while (text.size() % alignment != 0) text.push_back(0xcc);
    const auto begin = kText + static_cast<std::uint32_t>(text.size());
    text.insert(text.end(), bytes.begin(), bytes.end());
    program.functions.push_back({{begin, begin + static_cast<std::uint32_t>(bytes.size())}, name});
    return begin;
  }

  void set(std::uint32_t address, std::int64_t value, std::size_t width = 4) {
    std::uint8_t* const at = address < kConstants ? text.data() + (address - kText)
                                                  : constants.data() + (address - kConstants);
    std::memcpy(at, &value, width);
  }

  PlannedLayout plan() {
    program.image_size = 0x5000;
    const auto text_end = kText + static_cast<std::uint32_t>(text.size());
    program.sections = {{{kText, text_end}, Content::kText, text},
                        {{kConstants, kConstants + 64}, Content::kConstants, constants}};
    return plan_layout(program);
  }
};

std::vector<std::uint32_t> fields(const PlannedLayout& layout) {
  std::vector<std::uint32_t> found;
  for (const auto& fixup : layout.fixups) found.push_back(fixup.at);
  return found;
}

std::string reason(const PlannedLayout& layout, const char* name) {
  for (const auto& pinned : layout.pinned) {
    if (pinned.name == name) return pinned.reason;
  }
  return "";
}

const Bytes kCallAndReturn = {0xe8, 0, 0, 0, 0, 0x90, 0x90, 0xc3};  // call; nop; nop; ret
const Bytes kLong = {0x31, 0xc0, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xc3};

}  // namespace

TEST_CASE("calls follow their functions, data stays", "[layout]") {
  Code code;
  const auto a = code.function("a", kCallAndReturn);
  const auto b = code.function("b", {0x48, 0x8b, 0x05, 0, 0, 0, 0, 0xc3});  // mov 0(%rip),%rax
  const auto c = code.function("c", {0x48, 0x8d, 0x05, 0, 0, 0, 0, 0xc3});  // lea
  code.set(a + 1, b - (a + 5));
  code.set(b + 3, kConstants - (b + 7));
  code.set(c + 3, std::int64_t{a} - (c + 7));  // the address of a
  const auto layout = code.plan();
  REQUIRE(layout.units.size() == 3);
  REQUIRE(fields(layout) == std::vector{a + 1, b + 3, c + 3});
  CHECK(layout.fixups[0].unit == 1);
  CHECK(layout.fixups[1].unit == kStays);
  CHECK(layout.fixups[2].unit == kStays);  // addresses of functions are compared
  CHECK(layout.entries.size() == 3);
  CHECK(layout.movable_bytes == layout.text_bytes);
  CHECK(layout.text_bytes == 24);  // without the fill
}

TEST_CASE("a function that calls itself needs no correction; one that takes its address does",
          "[layout]") {
  Code code;
  const auto a = code.function("a", kCallAndReturn);
  const auto b = code.function("b", {0x48, 0x8d, 0x05, 0, 0, 0, 0, 0xc3});
  code.set(a + 1, -5);
  code.set(b + 3, -7);
  const auto layout = code.plan();
  CHECK(fields(layout) == std::vector{b + 3});
}

TEST_CASE("jump tables are found by what they hold", "[layout]") {
  // lea table(%rip),%rdx; movslq (%rdx,%rdi,4),%rax; add %rdx,%rax; jmp *%rax; four ways out
  const Bytes dispatch = {0x48, 0x8d, 0x15, 0,    0,    0,    0,    0x48, 0x63, 0x04, 0xba, 0x48,
                          0x01, 0xd0, 0xff, 0xe0, 0x90, 0xc3, 0x90, 0xc3, 0x90, 0xc3, 0x90, 0xc3};
  Code code;
  const auto a = code.function("a", dispatch);
  const auto b = code.function("b", kLong);
  code.set(a + 3, kConstants - (a + 7));
  for (std::uint32_t i = 0; i < 4; ++i) {
    code.set(kConstants + 4 * i, std::int64_t{a} + 16 + 2 * i - kConstants);
  }
  code.set(kConstants + 16, std::int64_t{b} + 6 - kConstants);  // not of this function
  const auto layout = code.plan();
  REQUIRE(layout.tables.size() == 4);
  CHECK(layout.tables[3].at == kConstants + 12);
  CHECK(layout.tables[3].unit == 0);
  CHECK(layout.tables[3].base == kConstants);

  code.set(kConstants + 4, std::int64_t{a} + 4 - kConstants);  // in the middle of an instruction
  CHECK(code.plan().tables.empty());
}

TEST_CASE("an address that the loader relocates may be that of a label", "[layout]") {
  Code code;
  const auto a = code.function("a", kLong);
  code.program.pointers = {{kConstants, a + 6}, {kConstants + 8, a}};
  const auto layout = code.plan();
  REQUIRE(layout.tables.size() == 1);  // a pointer to the function itself stays
  CHECK(layout.tables[0].at == kConstants);
  CHECK(layout.tables[0].width == 8);
}

TEST_CASE("neighbours that run into each other move together", "[layout]") {
  Code code;
  const auto a = code.function("a", {0x90, 0x90, 0x90, 0x90, 0x90, 0x90});  // runs on
  code.function("b", kLong, 1);
  const auto c = code.function("c", {0xeb, 0x00, 0x90, 0x90, 0x90, 0xc3});
  code.function("d", kLong);
  code.set(c + 1, 14, 1);  // a short jump to d
  const auto layout = code.plan();
  REQUIRE(layout.units.size() == 2);
  CHECK(layout.units[0].begin == a);
  CHECK(layout.units[0].size == 6 + kLong.size());
  CHECK(layout.units[1].begin == c);
  CHECK(layout.units[1].size == 16 + kLong.size());
}

TEST_CASE("what cannot be moved stays, with its reason", "[layout]") {
  Code code;
  code.function("data", {0x90, 0x06, 0x07, 0xc3});  // no instructions of 64-bit mode
  code.function("asks", {0xe8, 0, 0, 0, 0, 0x58, 0xc3});
  // jmp 1f; two bytes that look like the begin of a longer instruction; 1: ret
  code.function("holds data",
                {0xeb, 0x02, 0x48, 0xb8, 0xc3, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90});
  const auto far = code.function("far", kCallAndReturn);
  code.set(far + 1, 0x70000000);
  code.text.insert(code.text.end(), {0x31, 0xc0, 0xc3});  // of no function
  const auto layout = code.plan();
  CHECK(layout.units.empty());
  CHECK(reason(layout, "data") == "holds bytes that are no instruction");
  CHECK(reason(layout, "asks") == "asks for its own address by a call");
  CHECK(reason(layout, "holds data") == "holds data between instructions");
  CHECK(reason(layout, "far") == "refers to an address outside the program");
  CHECK(reason(layout, "").starts_with("belongs to no function"));
  CHECK(layout.movable_bytes == 0);
}

TEST_CASE("a jump past a prefix is a jump to an instruction", "[layout]") {
  Code code;
  // je 1f; lock 1: cmpxchg %ecx,(%rdx); ret
  code.function("lock", {0x74, 0x01, 0xf0, 0x0f, 0xb1, 0x0a, 0xc3});
  CHECK(code.plan().units.size() == 1);
}

TEST_CASE("an original is overwritten only where nobody jumps into the jump", "[layout]") {
  Code code;
  // A loop that begins behind the first instruction: push %rbp; dec %edi; jnz there; pop; ret
  const Bytes loop = {0x55, 0xff, 0xcf, 0x75, 0xfc, 0x5d, 0xc3};
  Bytes marked = {0xf3, 0x0f, 0x1e, 0xfa};  // endbr64
  marked.insert(marked.end(), kLong.begin(), kLong.end());
  const auto a = code.function("a", loop);
  const auto b = code.function("b", marked);
  code.function("c", {0xc3}, 1);
  code.function("d", kLong, 1);                                    // leaves no room for c
  code.function("e", {0x90, 0x48, 0x89, 0xc7, 0x90, 0x90, 0xc3});  // nop; landing pad
  const auto layout = code.plan();
  CHECK(layout.units.size() == 5);
  CHECK(layout.functions == 5);
  CHECK(layout.kept_entries == 3);
  REQUIRE(layout.entries.size() == 2);
  CHECK(layout.entries[0].at == b + 4);
  CHECK(a < b);
}
