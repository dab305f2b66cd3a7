#include "linetable/accesses/alias_window.h"

#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

#include "linetable/accesses/memory_operands.h"

using coz::linetable::Access;
using coz::linetable::AliasWindow;

namespace {

constexpr Access store_to(std::uint64_t address) { return {0x100, address, 4, true}; }
constexpr Access load_of(std::uint64_t address) { return {0x200, address, 4, false}; }

std::uint64_t meetings(const AliasWindow& window) {
  std::uint64_t found = 0;
  for (const auto& [key, pair] : window.pairs()) found += pair.count;
  return found;
}

}  // namespace

TEST_CASE("A load aliases with a store a multiple of a page away, and with no other") {
  for (const auto& [address, expected] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
           {0x5024, 1}, {0x5022, 1}, {0x5028, 0}, {0x5020, 0}, {0x1024, 0}, {0x1022, 0}}) {
    AliasWindow window;
    window.see(store_to(0x1024));
    window.next_instruction();
    window.see(load_of(address));
    INFO(address);
    REQUIRE(meetings(window) == expected);
  }
}

TEST_CASE(
    "Stores are forgotten after some instructions, after as many stores, and at an interruption") {
  AliasWindow window;
  window.see(store_to(0x1024));
  for (std::uint64_t i = 0; i <= AliasWindow::kInstructions; ++i) window.next_instruction();
  window.see(load_of(0x5024));
  REQUIRE(meetings(window) == 0);

  window.see(store_to(0x1024));
  for (std::size_t i = 0; i < AliasWindow::kStores; ++i) window.see(store_to(0x2100));
  window.see(load_of(0x5024));
  REQUIRE(meetings(window) == 0);

  window.see(store_to(0x1024));
  window.interrupt();
  window.see(load_of(0x5024));
  REQUIRE(meetings(window) == 0);
  REQUIRE(window.loads() == 3);
}

TEST_CASE("A load that a younger store of its own address serves waits for no other") {
  AliasWindow window;
  window.see(store_to(0x1024));
  window.see(store_to(0x5024));
  window.see(load_of(0x5024));
  REQUIRE(meetings(window) == 0);
}

TEST_CASE("Each pair of instructions counts by itself") {
  AliasWindow window;
  for (int i = 0; i < 3; ++i) {
    window.see(store_to(0x1024));
    window.see(load_of(0x5024));
  }
  REQUIRE(window.pairs().size() == 1);
  const auto& pair = window.pairs().begin()->second;
  REQUIRE(pair.count == 3);
  REQUIRE(pair.store.address == 0x1024);
  REQUIRE(pair.load.address == 0x5024);
}

#if defined(__x86_64__)
TEST_CASE("Operands in memory have addresses by registers, loads first") {
  user_regs_struct registers{};
  registers.rip = 0x400000;
  registers.rsp = 0x7000;
  registers.rbx = 0x2000;
  registers.rcx = 3;
  std::vector<Access> found;
  // add %eax, 8(%rbx,%rcx,4)
  REQUIRE(coz::linetable::find_accesses(std::array<std::uint8_t, 4>{0x01, 0x44, 0x8b, 0x08},
                                        registers, found));
  REQUIRE(found.size() == 2);
  REQUIRE(found[0].address == 0x2014);
  REQUIRE(found[0].size == 4);
  REQUIRE(!found[0].is_store);
  REQUIRE(found[1].is_store);
  // mov 0x10(%rip), %rax
  REQUIRE(coz::linetable::find_accesses(
      std::array<std::uint8_t, 7>{0x48, 0x8b, 0x05, 0x10, 0x00, 0x00, 0x00}, registers, found));
  REQUIRE(found.size() == 1);
  REQUIRE(found[0].address == 0x400017);
  // push %rax writes below the stack pointer, pop %rax reads at it.
  REQUIRE(coz::linetable::find_accesses(std::array<std::uint8_t, 1>{0x50}, registers, found));
  REQUIRE(found.size() == 1);
  REQUIRE(found[0].address == 0x6ff8);
  REQUIRE(found[0].is_store);
  REQUIRE(coz::linetable::find_accesses(std::array<std::uint8_t, 1>{0x58}, registers, found));
  REQUIRE(found.size() == 1);
  REQUIRE(found[0].address == 0x7000);
  // lea and nopw 0(%rbx,%rcx) access no memory; 06 is no instruction.
  REQUIRE(coz::linetable::find_accesses(std::array<std::uint8_t, 4>{0x48, 0x8d, 0x43, 0x08},
                                        registers, found));
  REQUIRE(found.empty());
  REQUIRE(coz::linetable::find_accesses(
      std::array<std::uint8_t, 6>{0x66, 0x0f, 0x1f, 0x44, 0x0b, 0x00}, registers, found));
  REQUIRE(found.empty());
  REQUIRE(!coz::linetable::find_accesses(std::array<std::uint8_t, 1>{0x06}, registers, found));
}
#endif
