#include "patch/jumped_over.h"

#include <catch2/catch.hpp>
#include <vector>

using namespace coz;
using Bytes = std::vector<std::uint8_t>;

namespace {

struct Taken {
  std::size_t count;
  std::size_t length;
  bool operator==(const Taken&) const = default;
};

std::optional<Taken> taken(const Bytes& bytes) {
  const auto over = jumped_over(bytes);
  if (!over) return std::nullopt;
  return Taken{over->count, over->length};
}

}  // namespace

TEST_CASE("a jump takes the place of whole instructions", "[breakpoint][jump]") {
  // addq $1, 16(%rbp): five bytes. Longer ones are taken whole.
  CHECK(taken({0x48, 0x83, 0x45, 0x10, 0x01}) == Taken{1, 5});
  CHECK(taken({0x48, 0xc7, 0xc0, 1, 0, 0, 0}) == Taken{1, 7});
  // push %rbp; mov %rsp, %rbp; push %rbx
  CHECK(taken({0x55, 0x48, 0x89, 0xe5, 0x53}) == Taken{3, 5});
  // mov %rsp, %rbp; sub $16, %rsp
  CHECK(taken({0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x10}) == Taken{2, 7});
}

TEST_CASE("branches may be among them where control goes on", "[breakpoint][jump]") {
  // test %eax, %eax; je; mov %eax, %ebx
  CHECK(taken({0x85, 0xc0, 0x74, 0x10, 0x89, 0xc3}) == Taken{3, 6});
  // push %rax; call, jmp: last ones
  CHECK(taken({0x50, 0xe8, 0, 1, 0, 0}) == Taken{2, 6});
  CHECK(taken({0x48, 0x89, 0xe5, 0xeb, 0x10}) == Taken{2, 5});
  // mov %rsp, %rbp; pop %rbp; ret: the last one too
  CHECK(taken({0x48, 0x89, 0xe5, 0x5d, 0xc3}) == Taken{3, 5});
}

TEST_CASE("what lies behind the end of a path is not taken", "[breakpoint][jump]") {
  CHECK_FALSE(taken({0xeb, 0x10, 0x48, 0x89, 0xe5}));        // jmp
  CHECK_FALSE(taken({0x5d, 0xc3, 0x48, 0x89, 0xe5}));        // ret
  CHECK_FALSE(taken({0xf3, 0xc3, 0x48, 0x89, 0xe5}));        // rep ret
  CHECK_FALSE(taken({0x0f, 0x0b, 0x48, 0x89, 0xe5}));        // ud2
  CHECK_FALSE(taken({0xff, 0xe0, 0x48, 0x89, 0xe5}));        // jmp *%rax
  CHECK_FALSE(taken({0x3e, 0xff, 0xe0, 0x48, 0x89, 0xe5}));  // notrack
  CHECK_FALSE(taken({0xff, 0xd0, 0x48, 0x89, 0xe5}));        // call *%rax
  CHECK_FALSE(taken({0x48, 0x89, 0xe5, 0xff, 0xd0}));        // even as the last
  CHECK_FALSE(taken({0xe3, 0x10, 0x48, 0x89, 0xe5}));        // jrcxz
  CHECK_FALSE(taken({0x55, 0xcc, 0x48, 0x89, 0xe5}));        // int3
  CHECK_FALSE(taken({0x55, 0x48, 0x89}));                    // cut off
  CHECK_FALSE(taken({0x55, 0x06, 0x48, 0x89, 0xe5}));        // unknown
}

TEST_CASE("indirect jumps are known, with prefixes too", "[breakpoint][jump]") {
  CHECK(is_indirect_jump(Bytes{0xff, 0xe0}));
  CHECK(is_indirect_jump(Bytes{0x41, 0xff, 0xe7}));
  CHECK(is_indirect_jump(Bytes{0x3e, 0xff, 0xe0}));
  CHECK(is_indirect_jump(Bytes{0xff, 0x25, 0, 0, 0, 0}));
  CHECK_FALSE(is_indirect_jump(Bytes{0xff, 0xd0}));
  CHECK_FALSE(is_indirect_jump(Bytes{0xe9, 0, 0, 0, 0}));
}
