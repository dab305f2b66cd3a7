#include "unwind/frame_rules.h"

#include <dwarf.h>

#include <catch2/catch.hpp>
#include <optional>
#include <vector>

#include "unwind/expression.h"

namespace {

using coz::FrameRules;
using coz::RegisterRule;
using Bytes = std::vector<std::uint8_t>;
using Kind = RegisterRule::Kind;

constexpr std::uint8_t kCode = 4;  // bytes in a unit of code
constexpr std::uint64_t kBegin = 0x1000;

// CFA is register 7 + 8, and register 5 is saved at CFA - 8.
const Bytes kCommon = {DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 5, 1};

// What is found refers to `program`.
std::optional<FrameRules> rules_at(std::uint64_t offset, const Bytes& program,
                                   const Bytes& common = kCommon) {
  coz::FrameDescription description;
  description.begin = kBegin;
  description.end = kBegin + 0x10000;
  description.common_program = common;
  description.program = program;
  description.code_unit = kCode;
  description.data_unit = -8;
  FrameRules rules;
  if (!coz::find_frame_rules(description, kBegin + offset, rules)) return std::nullopt;
  return rules;
}

std::uint8_t advance(std::uint8_t units) { return DW_CFA_advance_loc | units; }

}  // namespace

TEST_CASE("rules hold from the instruction on that they are given for", "[unwind]") {
  const Bytes push = {advance(1), DW_CFA_def_cfa_offset,   16, DW_CFA_offset | 6, 2,
                      advance(2), DW_CFA_def_cfa_register, 6};
  for (const std::uint64_t offset : {0, 3}) {
    const auto rules = rules_at(offset, push);
    REQUIRE(rules);
    CHECK(rules->cfa_register == 7);
    CHECK(rules->cfa_offset == 8);
    CHECK(rules->registers[6].kind == Kind::kSame);
    CHECK(rules->registers[5].kind == Kind::kSavedAt);
    CHECK(rules->registers[5].offset == -8);
  }
  for (const std::uint64_t offset : {4, 11}) {
    const auto rules = rules_at(offset, push);
    REQUIRE(rules);
    CHECK(rules->cfa_register == 7);
    CHECK(rules->cfa_offset == 16);
    CHECK(rules->registers[6].kind == Kind::kSavedAt);
    CHECK(rules->registers[6].offset == -16);
  }
  const auto rules = rules_at(12, push);
  REQUIRE(rules);
  CHECK(rules->cfa_register == 6);
  CHECK(rules->cfa_offset == 16);
}

TEST_CASE("instructions are advanced over in steps of every size", "[unwind]") {
  const auto offset_at = [](std::uint64_t at, const Bytes& far) {
    Bytes program = far;
    program.insert(program.end(), {DW_CFA_def_cfa_offset, 99});
    const auto rules = rules_at(at, program);
    REQUIRE(rules);
    return rules->cfa_offset;
  };
  CHECK(offset_at(4 * 200 - 1, {DW_CFA_advance_loc1, 200}) == 8);
  CHECK(offset_at(4 * 200, {DW_CFA_advance_loc1, 200}) == 99);
  CHECK(offset_at(4 * 0x102 - 1, {DW_CFA_advance_loc2, 2, 1}) == 8);
  CHECK(offset_at(4 * 0x102, {DW_CFA_advance_loc2, 2, 1}) == 99);
  CHECK(offset_at(4 * 0x103 - 1, {DW_CFA_advance_loc4, 3, 1, 0, 0}) == 8);
  CHECK(offset_at(4 * 0x103, {DW_CFA_advance_loc4, 3, 1, 0, 0}) == 99);
  CHECK(offset_at(0x1f, {DW_CFA_set_loc, 0x20, 0x10, 0, 0, 0, 0, 0, 0}) == 8);
  CHECK(offset_at(0x20, {DW_CFA_set_loc, 0x20, 0x10, 0, 0, 0, 0, 0, 0}) == 99);
}

TEST_CASE("every kind of rule", "[unwind]") {
  const Bytes program = {DW_CFA_offset_extended,
                         0,
                         3,  //
                         DW_CFA_offset_extended_sf,
                         1,
                         0x7f,  // -1
                         DW_CFA_val_offset,
                         2,
                         2,  //
                         DW_CFA_register,
                         3,
                         4,  //
                         DW_CFA_undefined,
                         8,  //
                         DW_CFA_expression,
                         9,
                         2,
                         DW_OP_breg6,
                         0,  //
                         DW_CFA_val_expression,
                         10,
                         1,
                         DW_OP_lit4,  //
                         DW_CFA_offset_extended,
                         40,
                         3,  // no register that we have
                         DW_CFA_GNU_args_size,
                         16,  //
                         DW_CFA_same_value,
                         5,  //
                         DW_CFA_AARCH64_negate_ra_state};
  const auto rules = rules_at(0, program);
  REQUIRE(rules);
  CHECK(rules->registers[0].offset == -24);
  CHECK(rules->registers[1].offset == 8);
  CHECK(rules->registers[2].kind == Kind::kIs);
  CHECK(rules->registers[2].offset == -16);
  CHECK(rules->registers[3].kind == Kind::kRegister);
  CHECK(rules->registers[3].number == 4);
  CHECK(rules->registers[8].kind == Kind::kUndefined);
  CHECK(rules->registers[5].kind == Kind::kSame);
  CHECK(rules->is_signed);
  REQUIRE(rules->registers[9].kind == Kind::kSavedExpression);
  const coz::TableBytes saved = coz::expression_of(rules->registers[9]);
  CHECK(Bytes(saved.begin(), saved.end()) == Bytes{DW_OP_breg6, 0});
  REQUIRE(rules->registers[10].kind == Kind::kIsExpression);
  const coz::TableBytes is = coz::expression_of(rules->registers[10]);
  CHECK(Bytes(is.begin(), is.end()) == Bytes{DW_OP_lit4});
}

TEST_CASE("rules are restored: the common ones, and those remembered", "[unwind]") {
  const Bytes program = {DW_CFA_remember_state,
                         DW_CFA_def_cfa_offset,
                         32,
                         DW_CFA_undefined,
                         5,
                         DW_CFA_offset | 3,
                         4,
                         advance(1),
                         DW_CFA_restore | 5,
                         advance(1),
                         DW_CFA_restore_state};
  auto rules = rules_at(0, program);
  REQUIRE(rules);
  CHECK(rules->cfa_offset == 32);
  CHECK(rules->registers[5].kind == Kind::kUndefined);
  rules = rules_at(4, program);
  REQUIRE(rules);
  CHECK(rules->registers[5].offset == -8);
  CHECK(rules->registers[3].offset == -32);
  rules = rules_at(8, program);
  REQUIRE(rules);
  CHECK(rules->cfa_offset == 8);
  CHECK(rules->registers[3].kind == Kind::kSame);
}

TEST_CASE("a frame found by an expression", "[unwind]") {
  const Bytes program = {DW_CFA_def_cfa_expression, 2, DW_OP_breg10, 0};
  const auto rules = rules_at(0, program);
  REQUIRE(rules);
  CHECK(rules->cfa_is_expression);
  CHECK(Bytes(rules->cfa_expression.begin(), rules->cfa_expression.end()) ==
        Bytes{DW_OP_breg10, 0});
}

TEST_CASE("broken programs have no rules", "[unwind]") {
  CHECK_FALSE(rules_at(0, {DW_CFA_restore_state}));
  CHECK_FALSE(rules_at(0, {DW_CFA_def_cfa, 99, 8}));
  CHECK_FALSE(rules_at(0, {DW_CFA_register, 3, 99}));
  CHECK_FALSE(rules_at(0, {DW_CFA_def_cfa_expression, 5, DW_OP_breg10, 0}));
  CHECK_FALSE(rules_at(0, {DW_CFA_expression, 3, 0xff, 0xff, 0xff}));
  CHECK_FALSE(rules_at(0, {DW_CFA_advance_loc4, 1}));
  CHECK_FALSE(rules_at(0, {0x3c, 1}));
  CHECK_FALSE(rules_at(0, Bytes(4, DW_CFA_remember_state)));
  CHECK_FALSE(rules_at(0, {}, {DW_CFA_def_cfa, 7}));
  // What is broken behind the instruction in question is not reached.
  CHECK(rules_at(0, {advance(1), 0x3c, 1}));
}
