#include "linetable/plan/patch_planner.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "tests/linetable/compiled_program.h"

using coz::encode;
using coz::parse_patch_plan;
using coz::linetable::outline_instruction;
using coz::linetable::plan_patch;
using Bytes = std::vector<std::uint8_t>;

namespace {

constexpr std::uint64_t kHere = 0x1000;

// The plan as text, without the original; or the refusal.
std::string planned(const Bytes& bytes) {
  const auto patch = plan_patch(bytes, kHere);
  if (!patch.plan) return patch.refusal;
  const std::string text = encode(*patch.plan);
  CHECK(parse_patch_plan(text) == patch.plan);
  CHECK(patch.plan->original == bytes);
  return text.substr(text.find('/') + 1);
}

}  // namespace

TEST_CASE("most instructions run as copies", "[plan]") {
  const std::vector<Bytes> whole = {
      {0x55},                                            // push %rbp
      {0x5d},                                            // pop %rbp
      {0xc3},                                            // ret
      {0xf3, 0xc3},                                      // rep ret
      {0xff, 0xe0},                                      // jmp *%rax
      {0x3e, 0xff, 0xe0},                                // notrack jmp *%rax
      {0x0f, 0x05},                                      // syscall
      {0xf3, 0x0f, 0x1e, 0xfa},                          // endbr64
      {0x48, 0x89, 0xe5},                                // mov %rsp,%rbp
      {0x48, 0x81, 0xec, 0x00, 0x01, 0x00, 0x00},        // sub $0x100,%rsp
      {0x66, 0x81, 0xfb, 0x34, 0x12},                    // cmp $0x1234,%bx
      {0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8},              // movabs
      {0xf0, 0x48, 0x0f, 0xb1, 0x0f},                    // lock cmpxchg %rcx,(%rdi)
      {0xf3, 0x48, 0xab},                                // rep stos
      {0xf6, 0x44, 0x24, 0x08, 0x01},                    // testb $1,8(%rsp)
      {0xf7, 0xd8},                                      // neg %eax
      {0x8b, 0x04, 0x25, 0x10, 0x00, 0x00, 0x00},        // mov 0x10,%eax
      {0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0},     // mov %fs:0x28,%rax
      {0xf2, 0x0f, 0x58, 0xc1},                          // addsd %xmm1,%xmm0
      {0xc5, 0xf8, 0x77},                                // vzeroupper
      {0xc5, 0xfd, 0x70, 0xc0, 0x1b},                    // vpshufd $0x1b,%ymm0,%ymm0
      {0xc4, 0xe3, 0x7d, 0x39, 0xc0, 0x01},              // vextracti128 $1,%ymm0,%xmm0
      {0x62, 0xf1, 0xfd, 0x48, 0x6f, 0x40, 0x01},        // vmovdqa64 0x40(%rax),%zmm0
      {0x66, 0x0f, 0x3a, 0x0f, 0xc1, 0x08},              // palignr $8,%xmm1,%xmm0
      {0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0, 0, 0, 0},  // a long nop
  };
  for (const Bytes& bytes : whole) {
    INFO(int{bytes[0]} << " " << bytes.size());
    CHECK(planned(bytes) == "/");
    CHECK(outline_instruction(bytes, kHere)->length == bytes.size());
    CHECK_FALSE(outline_instruction(bytes, kHere)->jump_target);
  }
}

TEST_CASE("a displacement relative to rip is named", "[plan]") {
  CHECK(planned({0x48, 0x8b, 0x05, 1, 0, 0, 0}) == "/d3");
  CHECK(planned({0xf7, 0x05, 1, 0, 0, 0, 2, 0, 0, 0}) == "/d2");  // testl $2,1(%rip)
  CHECK(planned({0xf0, 0x48, 0xff, 0x05, 1, 0, 0, 0}) == "/d4");  // lock incq 1(%rip)
  CHECK(planned({0xc5, 0xf9, 0x6f, 0x05, 1, 0, 0, 0}) == "/d4");  // vmovdqa 1(%rip),%xmm0
  CHECK(planned({0x48, 0x8d, 0x3d, 1, 0, 0, 0}) == "/d3");        // lea 1(%rip),%rdi
  CHECK(planned({0xff, 0x25, 1, 0, 0, 0}) == "/d2");              // jmp *1(%rip)
}

TEST_CASE("jumps lead to the address that the original names", "[plan]") {
  CHECK(planned({0xeb, 0x10}) == "ff25000000001210000000000000/a6");
  CHECK(planned({0xe9, 0x00, 0xff, 0xff, 0xff}) == "ff2500000000050f000000000000/a6");
  CHECK(planned({0xf2, 0xe9, 1, 0, 0, 0}) == "ff25000000000710000000000000/a6");  // bnd
  // Under a condition: the opposite one leads over the jump.
  CHECK(planned({0x74, 0x05}) == "750eff25000000000710000000000000/a8");
  CHECK(planned({0x0f, 0x84, 1, 0, 0, 0}) == "750eff25000000000710000000000000/a8");
  CHECK(planned({0x7f, 0x05}) == "7e0eff25000000000710000000000000/a8");
  CHECK(planned({0xe2, 0x05}) == "e202eb0eff25000000000710000000000000/a10");  // loop
  CHECK(planned({0xe3, 0x05}) == "e302eb0eff25000000000710000000000000/a10");  // jrcxz
  CHECK(outline_instruction(Bytes{0xeb, 0xfe}, kHere)->jump_target == kHere);
  CHECK(outline_instruction(Bytes{0x74, 0x05}, kHere)->jump_target == kHere + 7);
  CHECK(outline_instruction(Bytes{0xe2, 0x05}, kHere)->jump_target == kHere + 7);
  CHECK_FALSE(outline_instruction(Bytes{0xe8, 0, 0, 0, 0}, kHere)->jump_target);
}

TEST_CASE("calls push where the original returns to", "[plan]") {
  CHECK(planned({0xe8, 1, 0, 0, 0}) ==
        "ff3506000000ff250800000005100000000000000610000000000000/a12a20p8");
  CHECK(planned({0xff, 0xd0}) == "ff3502000000ffe00210000000000000/a8p8");
  CHECK(planned({0x41, 0xff, 0xd4}) == "ff350300000041ffe40310000000000000/a9p8");
  CHECK(planned({0x3e, 0xff, 0xd0}) == "ff35030000003effe00310000000000000/a9p8");  // notrack
  CHECK(planned({0x64, 0xff, 0x10}) == "ff350300000064ff200310000000000000/a9p8");  // *%fs:(%rax)
  CHECK(planned({0x43, 0xff, 0x54, 0xd1, 0x08}) ==
        "ff350500000043ff64d1080510000000000000/a11p8");  // *8(%r9,%r10,8)
  CHECK(planned({0xff, 0x15, 1, 0, 0, 0}) == "ff3506000000ff25fbffffff0610000000000000/d8a12p8");
  // The operand is read after the push: 8(%rsp) has become 16(%rsp).
  CHECK(planned({0xff, 0x54, 0x24, 0x08}) == "ff3504000000ff6424100410000000000000/a10p8");
  CHECK(planned({0xff, 0x14, 0x24}) == "ff3504000000ff6424080310000000000000/a10p8");
  CHECK(planned({0xff, 0x54, 0x24, 0x7f}) == "ff3507000000ffa424870000000410000000000000/a13p8");
}

TEST_CASE("what cannot be moved for certain is not", "[plan]") {
  const std::vector<Bytes> tied = {
      {0xcc},        // int3
      {0xcd, 0x80},  // int
      {0xf1},        // int1
      {0xcb},        // far return
      {0xff, 0x18},  // far call
      {0xff, 0x28},  // far jump
      {0xff, 0xd4},  // call *%rsp
      {0x66, 0xe8, 0, 0, 0, 0},
      {0x66, 0x66, 0x48, 0xe8, 0, 0, 0, 0},
      {0x67, 0xe3, 0x05},              // jecxz
      {0xc7, 0xf8, 0, 0, 0, 0},        // xbegin, which holds an address
      {0x67, 0x8b, 0x05, 0, 0, 0, 0},  // relative to eip
  };
  for (const Bytes& bytes : tied) {
    INFO(int{bytes[0]} << " " << bytes.size());
    CHECK(planned(bytes) == "the instruction there cannot be executed elsewhere");
  }
  for (const Bytes& bytes : {Bytes{}, Bytes{0x06}, Bytes{0x48, 0x8b}, Bytes{0xe8, 0, 0, 0}}) {
    CHECK(planned(bytes) == "the instruction there is not known");
    CHECK_FALSE(outline_instruction(bytes, kHere));
  }
}

namespace {

struct Listed {
  Bytes bytes;
  std::string text;
};

// One instruction a line: "  401000:\t55 48 89 \tpush %rbp".
std::vector<Listed> disassembly_of(const std::string& binary) {
  std::istringstream lines(output_of("objdump -d -w " + binary));
  std::vector<Listed> listed;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find('\t');
    const std::size_t second = line.find('\t', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    Listed one;
    std::istringstream bytes(line.substr(first + 1, second - first - 1));
    for (std::string byte; bytes >> byte;) {
      one.bytes.push_back(static_cast<std::uint8_t>(std::stoul(byte, nullptr, 16)));
    }
    one.text = line.substr(second + 1);
    listed.push_back(one);
  }
  return listed;
}

bool is_prefix_or_data(const std::string& text) {
  return text.find("(bad)") != std::string::npos || text.find(".byte") != std::string::npos ||
         text.starts_with("rex") || text.starts_with("fst") || text.starts_with("fcl") ||
         text.starts_with("fin") || text.starts_with("fsave") ||  // with the wait before them
         text.find(' ') == std::string::npos;
}

}  // namespace

TEST_CASE("real code has plans, of the lengths that objdump knows", "[plan]") {
  if (!has_tool("objdump")) {
    WARN("there is no objdump");
    return;
  }
  for (const char* binary :
       {"/proc/$PPID/exe", "/lib/x86_64-linux-gnu/libc.so.6", "/lib/x86_64-linux-gnu/libm.so.6"}) {
    if (!shell(std::string("test -r ") + binary)) continue;
    std::size_t known = 0;
    std::size_t all = 0;
    std::string wrong;
    for (const Listed& one : disassembly_of(std::string("$(readlink -f ") + binary + ")")) {
      const auto patch = plan_patch(one.bytes, kHere);
      ++all;
      if (!patch.plan) continue;
      ++known;
      // It may print a prefix by itself; nothing else may come out shorter or longer.
      const bool has_length = patch.plan->original.size() == one.bytes.size();
      if (!has_length && !is_prefix_or_data(one.text)) wrong += one.text + "\n";
    }
    INFO(binary << "\n" << wrong.substr(0, 2000));
    CHECK(wrong.empty());
    CHECK(all > 1000);
    CHECK(known > all / 1000 * 995);
  }
}
