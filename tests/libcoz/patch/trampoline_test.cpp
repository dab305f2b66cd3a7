#include "patch/trampoline.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

using namespace coz;
using Bytes = std::vector<std::uint8_t>;

namespace {

constexpr std::uint64_t kPlace = 0x401000, kNear = 0x500000, kEntry = 0x123456789abc, kSite = 0x77;
constexpr std::size_t kHead = 33;

Trampoline build(const Bytes& bytes) {
  const auto over = jumped_over(bytes);
  REQUIRE(over);
  const auto trampoline = Trampoline::build(*over, bytes, {kPlace, kNear, kEntry, kSite});
  REQUIRE(trampoline);
  return *trampoline;
}

// Where the instruction with a distance of 32 bits that ends at `end` leads to.
std::uint64_t target(const Trampoline& trampoline, std::size_t end) {
  std::int32_t distance = 0;
  std::memcpy(&distance, trampoline.code().data() + end - sizeof distance, sizeof distance);
  return kNear + end + static_cast<std::uint64_t>(std::int64_t{distance});
}

std::uint64_t literal(const Trampoline& trampoline, std::uint64_t address) {
  std::uint64_t value = 0;
  std::memcpy(&value, trampoline.code().data() + (address - kNear), sizeof value);
  return value;
}

bool has_at(const Trampoline& trampoline, std::size_t at, const Bytes& bytes) {
  return std::memcmp(trampoline.code().data() + at, bytes.data(), bytes.size()) == 0;
}

}  // namespace

TEST_CASE("a trampoline calls the entry and goes on behind", "[breakpoint][jump]") {
  const Bytes bytes = {0x48, 0x83, 0x45, 0x10, 0x01};
  const Trampoline trampoline = build(bytes);
  CHECK(literal(trampoline, target(trampoline, 13)) == kPlace);
  CHECK(literal(trampoline, target(trampoline, 19)) == kSite);
  CHECK(literal(trampoline, target(trampoline, 25)) == kEntry);
  CHECK(has_at(trampoline, 0, {0xeb, 0}));
  CHECK(kCountingSwitch + 1 + kNoCounting == kHead);
  CHECK(has_at(trampoline, kHead, bytes));
  CHECK(has_at(trampoline, kHead + 5, {0xe9}));
  CHECK(target(trampoline, kHead + 10) == kPlace + 5);
}

TEST_CASE("operands and branches still lead where they did", "[breakpoint][jump]") {
  // mov 16(%rip), %rax
  const Trampoline load = build({0x48, 0x8b, 0x05, 0x10, 0, 0, 0});
  CHECK(target(load, kHead + 7) == kPlace + 7 + 16);
  // test %eax, %eax; jne -4; xor %eax, %eax
  const Trampoline condition = build({0x85, 0xc0, 0x75, 0xfc, 0x31, 0xc0});
  CHECK(has_at(condition, kHead, {0x85, 0xc0, 0x0f, 0x85}));
  CHECK(target(condition, kHead + 8) == kPlace);
  CHECK(has_at(condition, kHead + 8, {0x31, 0xc0, 0xe9}));
  CHECK(target(condition, kHead + 15) == kPlace + 6);
  // A call pushes the address behind the place, and jumps.
  const Trampoline call = build({0xe8, 0x00, 0x01, 0, 0});
  CHECK(has_at(call, kHead, {0xff, 0x35}));
  CHECK(literal(call, target(call, kHead + 6)) == kPlace + 5);
  CHECK(target(call, kHead + 11) == kPlace + 5 + 0x100);
}

TEST_CASE("what is too far away is refused", "[breakpoint][jump]") {
  const Bytes bytes = {0x48, 0x8b, 0x05, 0, 0, 0, 0x80};
  CHECK_FALSE(Trampoline::build(*jumped_over(bytes), bytes, {kPlace, kNear, kEntry, kSite}));
  const Bytes plain = {0x48, 0x83, 0x45, 0x10, 0x01};
  const Trampoline::Addresses far = {kPlace, kPlace + (1ULL << 33), kEntry, kSite};
  CHECK_FALSE(Trampoline::build(*jumped_over(plain), plain, far));
  CHECK_FALSE(jump_to(kPlace, far.trampoline));
  CHECK(jump_to(kPlace, kPlace + 0x105) ==
        std::array<std::uint8_t, kJumpSize>{0xe9, 0x00, 0x01, 0, 0});
}

TEST_CASE("whoever is in a trampoline is seen in the program", "[breakpoint][jump]") {
  // push %rbp; mov %rsp, %rbp; push %rbx
  const Trampoline trampoline = build({0x55, 0x48, 0x89, 0xe5, 0x53});
  const auto sees = [&](std::size_t offset, std::uint64_t rip, std::uint64_t pushed) {
    const SeenAt seen = trampoline.seen(offset);
    CHECK(seen.rip == rip);
    CHECK(seen.pushed == pushed);
  };
  sees(0, kPlace, 0);
  sees(2, kPlace, 0);
  sees(7, kPlace, 128);
  sees(13, kPlace, 136);
  sees(19, kPlace, 144);
  sees(25, kPlace, 144);
  sees(kHead, kPlace, 0);
  sees(kHead + 1, kPlace + 1, 0);
  sees(kHead + 4, kPlace + 4, 0);
  sees(kHead + 5, kPlace + 5, 0);
  // Behind the push of its return address a call is where it goes to.
  const Trampoline call = build({0xe8, 0x00, 0x01, 0, 0});
  CHECK(call.seen(kHead).rip == kPlace);
  CHECK(call.seen(kHead + 6).rip == kPlace + 5 + 0x100);
}
