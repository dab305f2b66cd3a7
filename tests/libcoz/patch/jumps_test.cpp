// Jumps in code of the test's own, through the entry that counts visits.
#include <unwind.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "patch/breakpoints.h"
#include "patch/jump_entry.h"
#include "tests/libcoz/patch/amid.h"

using namespace coz;

#if defined(__x86_64__)

namespace {

extern "C" {
// Of the number given, 1 when nothing has changed that must not, over a place with live registers.
long coz_test_keeps(const std::uint64_t* values);
long coz_test_steps(long count);
extern char coz_test_live[], coz_test_entry[], coz_test_branch[], coz_test_subroutine[],
    coz_test_far_call[], coz_test_shared[];
}

// coz_test_keeps: fills registers, a vector, flags and the red zone; passes the place; compares.
// coz_test_steps: sums count, count - 1, ... 1 twice, through several kinds of instructions.
asm(R"(
  .text
  .type coz_test_keeps, @function
coz_test_keeps:
  push %rbx
  push %rbp
  movdqu (%rdi), %xmm0
  movdqu 16(%rdi), %xmm15
  mov 8(%rdi), %rax
  mov %rax, -128(%rsp)
  mov %rax, -8(%rsp)
  mov $11, %ecx
  mov $12, %edx
  mov $13, %esi
  mov $14, %r8d
  mov $15, %r9d
  mov $16, %r10d
  mov $17, %r11d
  mov $18, %ebp
  mov $0x7fffffff, %ebx
  add $1, %ebx
  stc
coz_test_live:
  lea 0x1234(%rax), %rbx
  jno 1f
  jnc 1f
  jns 1f
  lea -0x1234(%rbx), %rbx
  cmp %rax, %rbx
  jne 1f
  cmp %rax, -128(%rsp)
  jne 1f
  cmp %rax, -8(%rsp)
  jne 1f
  cmp 8(%rdi), %rax
  jne 1f
  lea (%rcx,%rdx), %rax
  add %rsi, %rax
  add %r8, %rax
  add %r9, %rax
  add %r10, %rax
  add %r11, %rax
  add %rbp, %rax
  cmp $116, %rax
  jne 1f
  pcmpeqb (%rdi), %xmm0
  pcmpeqb 16(%rdi), %xmm15
  pand %xmm15, %xmm0
  pmovmskb %xmm0, %eax
  cmp $0xffff, %eax
  jne 1f
  mov $1, %eax
  jmp 2f
1:
  xor %eax, %eax
2:
  pop %rbp
  pop %rbx
  ret
  .size coz_test_keeps, .-coz_test_keeps

  .type coz_test_steps, @function
coz_test_steps:
coz_test_entry:
  push %rbx
  mov %rsp, %rdx
  xor %eax, %eax
coz_test_far_call:
  call coz_test_subroutine
coz_test_branch:
  sub $1, %rdi
  jnz coz_test_far_call
  pop %rbx
  ret
  .size coz_test_steps, .-coz_test_steps
coz_test_subroutine:
  add %rdi, %rax
coz_test_shared:
  add %rdi, %rax
  nop
  nop
  ret
)");

std::atomic<long> timed{0};
std::atomic<bool> wants_time{false};
thread_local std::vector<std::uintptr_t> frames;
std::atomic<bool> looks_at_frames{false};

_Unwind_Reason_Code add_frame(_Unwind_Context* frame, void*) noexcept {
  frames.push_back(_Unwind_GetIP(frame));
  return frames.size() < 20 ? _URC_NO_REASON : _URC_END_OF_STACK;
}

bool count(const void* site) noexcept {
  Breakpoints::for_each_at(site, [](Point& point) { point.count(0); });
  return wants_time;
}

// Changes all that it may.
void time_it(const void* site) noexcept {
  Breakpoints::for_each_at(site, [](Point&) { ++timed; });
  if (looks_at_frames) {
    frames.clear();
    _Unwind_Backtrace(add_frame, nullptr);
  }
  asm volatile(
      "pcmpeqd %%xmm0, %%xmm0\n pxor %%xmm15, %%xmm15\n std\n cld\n"
      "xor %%eax, %%eax\n xor %%ecx, %%ecx\n xor %%edx, %%edx\n xor %%esi, %%esi\n xor %%edi, "
      "%%edi\n"
      "xor %%r8d, %%r8d\n xor %%r9d, %%r9d\n xor %%r10d, %%r10d\n xor %%r11d, %%r11d\n"
      :
      :
      : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "xmm0", "xmm15", "cc",
        "memory");
}

std::uintptr_t address(const char* label) { return reinterpret_cast<std::uintptr_t>(label); }

const std::uint64_t kValues[4] = {0x0123456789abcdef, 0xfedcba9876543210, 0x1111222233334444,
                                  0x5555666677778888};

}  // namespace

TEST_CASE("code with jumps does what it did, and is counted", "[breakpoint][jump]") {
  static Breakpoints breakpoints;  // they stay in the code
  static Point live, entry, called, branch, shared, also;
  REQUIRE(coz_test_keeps(kValues) == 1);
  REQUIRE(coz_test_steps(10) == 110);
  const std::uintptr_t jump_entry = prepare_jump_entry(count, time_it);
  REQUIRE(jump_entry != 0);
  breakpoints.use_jumps(jump_entry);
  CHECK(breakpoints
            .prepare({{address(coz_test_live), &live, true},
                      {address(coz_test_entry), &entry, true},
                      {address(coz_test_far_call), &called, true},
                      {address(coz_test_branch), &branch, true},
                      {address(coz_test_shared), &shared, true},
                      {address(coz_test_shared), &also, true}})
            .empty());
  CHECK(breakpoints.not_by_jump().empty());
  CHECK_FALSE(breakpoints.has_instructions());
  CHECK(breakpoints.arm().empty());

  CHECK(coz_test_steps(10) == 110);
  CHECK(entry.visits() == 1);
  for (Point* point : {&called, &branch, &shared, &also}) CHECK(point->visits() == 10);
  CHECK(coz_test_keeps(kValues) == 1);
  CHECK(live.visits() == 1);
  CHECK(timed == 0);

  wants_time = true;
  CHECK(coz_test_keeps(kValues) == 1);
  CHECK(timed == 1);

  // From within, unwinding goes on at the place, and from there to us.
  looks_at_frames = true;
  CHECK(coz_test_keeps(kValues) == 1);
  looks_at_frames = false;
  wants_time = false;
  CHECK(std::count(frames.begin(), frames.end(), address(coz_test_live)) == 1);

  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int turn = 0; turn < 1000; ++turn) {
        if (i == 0) wants_time = turn % 2 == 0;
        wrong += coz_test_steps(10) != 110;
        wrong += coz_test_keeps(kValues) != 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  wants_time = false;
  CHECK(wrong == 0);
  CHECK(live.visits() == 4003);
  CHECK(entry.visits() == 4001);
  for (Point* point : {&called, &branch, &shared, &also}) CHECK(point->visits() == 40010);

  // The end of the counting, with threads in the middle of it.
  amid(
      [&] {
        wrong += coz_test_steps(10) != 110;
        wrong += coz_test_keeps(kValues) != 1;
      },
      [&] { CHECK(breakpoints.disarm()); });
  CHECK(wrong == 0);
  const std::uint64_t counted = shared.visits();
  CHECK(counted > 40010);
  CHECK(coz_test_steps(10) == 110);
  CHECK(coz_test_keeps(kValues) == 1);
  CHECK(shared.visits() == counted);
  CHECK(also.visits() == counted);
}

namespace {
extern "C" {
extern char coz_test_tight[], coz_test_tight_next[];
}
asm(R"(
  .text
coz_test_tight:
  mov %rdi, %rax
coz_test_tight_next:
  add $5, %rax
  ret
)");
}  // namespace

TEST_CASE("where no jump can stand there is an instruction", "[breakpoint][jump]") {
  Point first, second;
  SECTION("two places within five bytes") {
    Breakpoints breakpoints;
    breakpoints.use_jumps(prepare_jump_entry(count, time_it));
    CHECK(breakpoints
              .prepare({{address(coz_test_tight), &first, true},
                        {address(coz_test_tight_next), &second, false}})
              .empty());
    REQUIRE(breakpoints.not_by_jump().size() == 1);
    CHECK(breakpoints.not_by_jump()[0].point == &first);
    CHECK(breakpoints.has_instructions());
  }
  SECTION("a place within that somebody else watches") {
    Breakpoints breakpoints;
    breakpoints.use_jumps(prepare_jump_entry(count, time_it));
    breakpoints.keep_in_place(address(coz_test_tight_next));
    CHECK(breakpoints.prepare({{address(coz_test_tight), &first, true}}).empty());
    CHECK(breakpoints.not_by_jump().size() == 1);
  }
  SECTION("no entry") {
    Breakpoints breakpoints;
    CHECK(breakpoints.prepare({{address(coz_test_tight), &first, true}}).empty());
    CHECK(breakpoints.not_by_jump().size() == 1);
  }
  SECTION("alone it is possible") {
    Breakpoints breakpoints;
    breakpoints.use_jumps(prepare_jump_entry(count, time_it));
    CHECK(breakpoints.prepare({{address(coz_test_tight), &first, true}}).empty());
    CHECK(breakpoints.not_by_jump().empty());
  }
}

#endif
