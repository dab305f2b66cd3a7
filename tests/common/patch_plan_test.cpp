#include "common/patch_plan.h"

#include <catch2/catch.hpp>
#include <string>

using coz::encode;
using coz::parse_patch_plan;
using coz::PatchPlan;

TEST_CASE("a plan is the same after it was text", "[patch]") {
  const PatchPlan moved{{0x48, 0x89, 0xe5}, {0x48, 0x89, 0xe5}, 0, {}, 0};
  CHECK(encode(moved) == "4889e5//");
  const PatchPlan load{{0x8b, 0x05, 1, 0, 0, 0}, {0x8b, 0x05, 1, 0, 0, 0}, 2, {}, 0};
  CHECK(encode(load) == "8b0501000000//d2");
  PatchPlan call{{0xe8, 0, 0, 0, 0}, std::vector<std::uint8_t>(28, 0xff), 0, {12, 20}, 8};
  CHECK(encode(call).starts_with("e800000000/ffff"));
  CHECK(encode(call).ends_with("/a12a20p8"));
  for (const PatchPlan& plan : {moved, load, call}) CHECK(parse_patch_plan(encode(plan)) == plan);
}

TEST_CASE("text that is no plan is refused", "[patch]") {
  const std::string longest(2 * coz::kMaxInstruction, '9');
  const std::string longest_code(2 * coz::kMaxPatchCode, '9');
  CHECK(parse_patch_plan(longest + "/" + longest_code + "/d44a40"));
  for (const std::string& text :
       {std::string(), std::string("90"), std::string("90/"), std::string("90///"),
        std::string("//"), std::string("9//"), std::string("9x//"), std::string("-1//"),
        longest + "90//", "90/" + longest_code + "90/",  // too long
        std::string("9090909090//d2"),                   // a fixup reaches behind the code
        std::string("90/9090909090909090/a1"), longest + "/" + longest_code + "/d45",
        std::string("90//d"), std::string("90//d256"), std::string("90//x1"),
        std::string("90//p4")}) {
    INFO(text);
    CHECK_FALSE(parse_patch_plan(text));
  }
}
