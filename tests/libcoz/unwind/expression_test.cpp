#include "unwind/expression.h"

#include <dwarf.h>

#include <catch2/catch.hpp>
#include <optional>
#include <vector>

namespace {

using Bytes = std::vector<std::uint8_t>;

std::optional<std::uintptr_t> value_of(const Bytes& expression,
                                       const std::uintptr_t* first = nullptr) {
  coz::FrameRegisters registers;
  for (std::size_t i = 0; i < coz::kRegisters; ++i) registers.values[i] = 1000 * i;
  coz::CheckedMemory memory;
  std::uintptr_t out = 0;
  if (!coz::evaluate(expression, registers, first, memory, out)) return std::nullopt;
  return out;
}

constexpr std::uint8_t kMinusEight = 0x78;  // as a signed number in groups of seven bits

}  // namespace

TEST_CASE("the procedure linkage table's expression", "[unwind]") {
  // The stack pointer's distance from the frame depends on how far the stub has come.
  const auto at = [](std::uintptr_t pc) {
    coz::FrameRegisters registers;
    registers.values[7] = 5000;
    registers.values[16 % coz::kRegisters] = pc;
    coz::CheckedMemory memory;
    std::uintptr_t out = 0;
    const Bytes stub = {DW_OP_breg7, 8,        DW_OP_breg16, 0,         DW_OP_lit15, DW_OP_and,
                        DW_OP_lit11, DW_OP_ge, DW_OP_lit3,   DW_OP_shl, DW_OP_plus};
    REQUIRE(coz::evaluate(stub, registers, nullptr, memory, out));
    return out;
  };
  CHECK(at(0x1000) == 5008);
  CHECK(at(0x1006) == 5008);
  CHECK(at(0x100b) == 5016);
}

TEST_CASE("numbers, registers and what is done with them", "[unwind]") {
  CHECK(value_of({DW_OP_lit31}) == 31);
  CHECK(value_of({DW_OP_breg3, kMinusEight}) == 2992);
  CHECK(value_of({DW_OP_bregx, 4, 1}) == 4001);
  CHECK(value_of({DW_OP_const1s, 0xff}) == ~std::uintptr_t{0});
  CHECK(value_of({DW_OP_const2u, 0x34, 0x12}) == 0x1234);
  CHECK(value_of({DW_OP_const4s, 0xfe, 0xff, 0xff, 0xff}) == ~std::uintptr_t{1});
  CHECK(value_of({DW_OP_const8u, 1, 0, 0, 0, 0, 0, 0, 1}) == 0x0100000000000001);
  CHECK(value_of({DW_OP_constu, 0x80, 1}) == 128);
  CHECK(value_of({DW_OP_lit5, DW_OP_lit3, DW_OP_minus}) == 2);
  CHECK(value_of({DW_OP_lit5, DW_OP_lit3, DW_OP_swap, DW_OP_minus}) == ~std::uintptr_t{1});
  CHECK(value_of({DW_OP_lit5, DW_OP_lit3, DW_OP_mul}) == 15);
  CHECK(value_of({DW_OP_lit6, DW_OP_neg, DW_OP_lit1, DW_OP_shra}) == ~std::uintptr_t{2});
  CHECK(value_of({DW_OP_lit6, DW_OP_neg, DW_OP_abs}) == 6);
  CHECK(value_of({DW_OP_lit1, DW_OP_const1u, 64, DW_OP_shl}) == 0);
  CHECK(value_of({DW_OP_lit6, DW_OP_neg, DW_OP_lit1, DW_OP_lt}) == 1);
  CHECK(value_of({DW_OP_lit4, DW_OP_dup, DW_OP_plus, DW_OP_plus_uconst, 2}) == 10);
  CHECK(value_of({DW_OP_lit1, DW_OP_lit2, DW_OP_over, DW_OP_pick, 1, DW_OP_plus}) == 3);
  CHECK(value_of({DW_OP_lit1, DW_OP_lit2, DW_OP_drop}) == 1);
}

TEST_CASE("branches", "[unwind]") {
  CHECK(value_of({DW_OP_lit7, DW_OP_skip, 1, 0, DW_OP_lit9}) == 7);
  CHECK(value_of({DW_OP_lit7, DW_OP_lit0, DW_OP_bra, 1, 0, DW_OP_lit9}) == 9);
  CHECK(value_of({DW_OP_lit7, DW_OP_lit1, DW_OP_bra, 1, 0, DW_OP_lit9}) == 7);
  // For ever, and out of the expression.
  CHECK_FALSE(value_of({DW_OP_lit7, DW_OP_skip, 0xfd, 0xff}));
  CHECK_FALSE(value_of({DW_OP_lit7, DW_OP_skip, 0xf0, 0xff}));
  CHECK_FALSE(value_of({DW_OP_lit7, DW_OP_skip, 0x01, 0x00}));
}

TEST_CASE("memory is read where there is any", "[unwind]") {
  const std::uintptr_t word = 0x1122334455667788;
  const auto at = reinterpret_cast<std::uintptr_t>(&word);
  CHECK(value_of({DW_OP_deref}, &at) == word);
  CHECK(value_of({DW_OP_deref_size, 2}, &at) == 0x7788);
  CHECK_FALSE(value_of({DW_OP_deref_size, 9}, &at));
  CHECK_FALSE(value_of({DW_OP_lit8, DW_OP_deref}));
}

TEST_CASE("broken expressions have no value", "[unwind]") {
  CHECK_FALSE(value_of({}));
  CHECK_FALSE(value_of({DW_OP_plus}));
  CHECK_FALSE(value_of({DW_OP_lit1, DW_OP_plus}));
  CHECK_FALSE(value_of({DW_OP_const4u, 1, 2}));
  CHECK_FALSE(value_of({DW_OP_lit1, DW_OP_pick, 1}));
  CHECK_FALSE(value_of({DW_OP_bregx, 99, 0}));
  CHECK_FALSE(value_of({DW_OP_call_frame_cfa}));
  CHECK_FALSE(value_of(Bytes(17, DW_OP_lit1)));
  CHECK(value_of(Bytes(16, DW_OP_lit1)) == 1);
}
