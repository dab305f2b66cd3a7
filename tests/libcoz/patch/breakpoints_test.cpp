// Breakpoints in code of the test's own, with a handler of its own.
#include "patch/breakpoints.h"

#include <signal.h>
#include <ucontext.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "tests/libcoz/patch/amid.h"

using namespace coz;

#if defined(__x86_64__)

namespace {

extern "C" {
long coz_test_sum(long count);
extern char coz_test_loop[], coz_test_load[], coz_test_called[], coz_test_back[];
}

// Sums count, count - 1, ... 1 and coz_test_addend each time.
asm(R"(
  .text
  .type coz_test_sum, @function
coz_test_sum:
  xor %eax, %eax
coz_test_loop:
  call coz_test_called
coz_test_load:
  add coz_test_addend(%rip), %rax
  dec %rdi
coz_test_back:
  jnz coz_test_loop
  ret
coz_test_called:
  add %rdi, %rax
  ret
  .size coz_test_sum, .-coz_test_sum
  .data
coz_test_addend: .quad 1000
  .text
)");

std::atomic<const Breakpoints*> in_use{nullptr};

constexpr int kOrder[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                            REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

void handle(int, siginfo_t*, void* context) {
  auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  Registers registers;
  for (int i = 0; i < 16; ++i) {
    registers.general[static_cast<std::size_t>(i)] = static_cast<std::uint64_t>(machine[kOrder[i]]);
  }
  registers.rip = static_cast<std::uint64_t>(machine[REG_RIP]);
  registers.flags = static_cast<std::uint64_t>(machine[REG_EFL]);
  const bool ours = in_use.load()->step_over(registers, [](Point& point) { point.count(0); });
  if (!ours) std::abort();
  for (int i = 0; i < 16; ++i) {
    machine[kOrder[i]] = static_cast<greg_t>(registers.general[static_cast<std::size_t>(i)]);
  }
  machine[REG_RIP] = static_cast<greg_t>(registers.rip);
}

std::uintptr_t address(const char* label) { return reinterpret_cast<std::uintptr_t>(label); }

}  // namespace

TEST_CASE("code with breakpoints does what it did, and is counted", "[breakpoint]") {
  static Breakpoints breakpoints;  // copies of instructions are in it
  static Point loop, load, called, back, also;
  CHECK(coz_test_sum(10) == 10055);
  CHECK(breakpoints
            .prepare({{address(coz_test_loop), &loop},
                      {address(coz_test_load), &load},
                      {address(coz_test_called), &called},
                      {address(coz_test_back), &back},
                      {address(coz_test_load), &also}})
            .empty());
  CHECK(coz_test_sum(10) == 10055);
  struct sigaction action = {}, before;
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO;
  in_use = &breakpoints;
  REQUIRE(sigaction(SIGTRAP, &action, &before) == 0);
  CHECK(breakpoints.arm().empty());

  CHECK(coz_test_sum(10) == 10055);
  for (Point* point : {&loop, &load, &called, &back, &also}) CHECK(point->visits() == 10);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int turn = 0; turn < 100; ++turn) wrong += coz_test_sum(10) != 10055;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  for (Point* point : {&loop, &load, &called, &back, &also}) CHECK(point->visits() == 4010);
  // The instructions are still where they were, as far as anybody can tell.
  CHECK(breakpoints.in_program(address(coz_test_load)).rip == address(coz_test_load));
  Registers registers;
  registers.rip = address(coz_test_load) + 1;
  REQUIRE(breakpoints.step_over(registers, [](Point&) {}));
  CHECK(registers.rip != address(coz_test_load));
  CHECK(breakpoints.in_program(registers.rip).rip == address(coz_test_load));
  CHECK(breakpoints.in_program(registers.rip + 7).rip == address(coz_test_load) + 7);
  registers.rip = address(coz_test_loop);
  CHECK_FALSE(breakpoints.step_over(registers, [](Point&) {}));

  // Taken out while threads run into them: those go on as before.
  amid([&] { wrong += coz_test_sum(10) != 10055; }, [&] { CHECK(breakpoints.disarm()); });
  CHECK(wrong == 0);
  const std::uint64_t counted = load.visits();
  CHECK(counted > 4010);
  CHECK(sigaction(SIGTRAP, &before, nullptr) == 0);  // from here on, a signal would kill
  CHECK(coz_test_sum(10) == 10055);
  CHECK(load.visits() == counted);
  CHECK(also.visits() == counted);
}

#endif
