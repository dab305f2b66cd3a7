#include "patch/instruction.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "tests/linetable/compiled_program.h"

using coz::decode;
using coz::Instruction;
using Kind = coz::Instruction::Kind;
using Bytes = std::vector<std::uint8_t>;

TEST_CASE("lengths of instructions", "[breakpoint]") {
  const std::vector<Bytes> whole = {
      {0x55},                                            // push %rbp
      {0xf3, 0x0f, 0x1e, 0xfa},                          // endbr64
      {0x48, 0x89, 0xe5},                                // mov %rsp,%rbp
      {0x48, 0x81, 0xec, 0x00, 0x01, 0x00, 0x00},        // sub $0x100,%rsp
      {0x66, 0x81, 0xfb, 0x34, 0x12},                    // cmp $0x1234,%bx
      {0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8},              // movabs
      {0xf6, 0x44, 0x24, 0x08, 0x01},                    // testb $1,8(%rsp)
      {0xf7, 0xd8},                                      // neg %eax
      {0xf7, 0x05, 1, 0, 0, 0, 2, 0, 0, 0},              // testl $2,1(%rip)
      {0x8b, 0x04, 0x25, 0x10, 0x00, 0x00, 0x00},        // mov 0x10,%eax
      {0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0},     // mov %fs:0x28,%rax
      {0xc5, 0xf8, 0x77},                                // vzeroupper
      {0xc5, 0xfd, 0x70, 0xc0, 0x1b},                    // vpshufd $0x1b,%ymm0,%ymm0
      {0xc4, 0xe3, 0x7d, 0x39, 0xc0, 0x01},              // vextracti128 $1,%ymm0,%xmm0
      {0x62, 0xf1, 0xfd, 0x48, 0x6f, 0x40, 0x01},        // vmovdqa64 0x40(%rax),%zmm0
      {0x66, 0x0f, 0x3a, 0x0f, 0xc1, 0x08},              // palignr $8,%xmm1,%xmm0
      {0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0, 0, 0, 0},  // a long nop
  };
  for (const Bytes& bytes : whole) {
    INFO(int{bytes[0]} << " " << bytes.size());
    const auto instruction = decode(bytes);
    REQUIRE(instruction);
    CHECK(int{instruction->length} == static_cast<int>(bytes.size()));
    CHECK(instruction->kind == Kind::kPlain);
    Bytes cut(bytes.begin(), bytes.end() - 1);
    CHECK_FALSE(decode(cut));
  }
}

TEST_CASE("instructions that depend on their place", "[breakpoint]") {
  const auto kind = [](const Bytes& bytes) {
    const auto instruction = decode(bytes);
    REQUIRE(instruction);
    return instruction->kind;
  };
  CHECK(kind({0xeb, 0x10}) == Kind::kJump);
  CHECK(kind({0xe9, 0, 0, 0, 0}) == Kind::kJump);
  CHECK(kind({0x74, 0x10}) == Kind::kCondition);
  CHECK(kind({0x0f, 0x84, 0, 0, 0, 0}) == Kind::kCondition);
  CHECK(kind({0xe2, 0xfe}) == Kind::kCount);
  CHECK(kind({0xe8, 0, 0, 0, 0}) == Kind::kCall);
  CHECK(kind({0xff, 0xd0}) == Kind::kIndirectCall);
  CHECK(kind({0xff, 0x15, 0, 0, 0, 0}) == Kind::kIndirectCall);
  CHECK(kind({0xff, 0xe0}) == Kind::kPlain);  // jmp *%rax needs no place
  CHECK(kind({0xc3}) == Kind::kPlain);
  CHECK(decode(Bytes{0xeb, 0xfe})->relative == -2);
  CHECK(int{decode(Bytes{0x48, 0x8b, 0x05, 1, 0, 0, 0})->rip_displacement} == 3);
  CHECK(int{decode(Bytes{0xc5, 0xf9, 0x6f, 0x05, 1, 0, 0, 0})->rip_displacement} == 4);
}

TEST_CASE("what cannot be moved for certain is not", "[breakpoint]") {
  const std::vector<Bytes> unmovable = {{0xcc},
                                        {0xcd, 0x80},
                                        {0x66, 0xe8, 0, 0, 0, 0},
                                        {0x66, 0x66, 0x48, 0xe8, 0, 0, 0, 0},
                                        {0xc7, 0xf8, 0, 0, 0, 0},
                                        {0x64, 0xff, 0x10},
                                        {0x67, 0x8b, 0x05, 0, 0, 0, 0}};
  for (const Bytes& bytes : unmovable) {
    const auto instruction = decode(bytes);
    CHECK((!instruction || instruction->kind == Kind::kUnmovable));
  }
  CHECK_FALSE(decode(Bytes{0x06}));                    // not in 64-bit mode
  CHECK_FALSE(decode(Bytes{0x48, 0x66, 0x90}));        // a prefix behind rex
  CHECK_FALSE(decode(Bytes{0x8f, 0xe9, 0x78, 0x81}));  // xop
  CHECK_FALSE(decode(Bytes{}));
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

TEST_CASE("lengths are those of objdump", "[breakpoint]") {
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
      const auto instruction = decode(one.bytes);
      ++all;
      if (instruction) ++known;
      // It may print a prefix by itself; nothing else may come out shorter or longer.
      if (instruction && instruction->length != one.bytes.size() && !is_prefix_or_data(one.text)) {
        wrong += one.text + "\n";
      }
    }
    INFO(binary << "\n" << wrong.substr(0, 2000));
    CHECK(wrong.empty());
    CHECK(all > 1000);
    CHECK(known > all / 1000 * 995);
  }
}
