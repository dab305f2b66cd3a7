// Breakpoints in code of the test's own, with a handler of its own.
#include "patch/breakpoints.h"

#include <signal.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "kernel/machine_context.h"
#include "linetable/plan/patch_planner.h"
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

void handle(int, siginfo_t*, void* context) {
  const std::uintptr_t next =
      in_use.load()->step_over(instruction_pointer(context), [](Point& point) { point.count(0); });
  if (next == 0) std::abort();
  set_instruction_pointer(context, next);
}

std::uintptr_t address(const char* label) { return reinterpret_cast<std::uintptr_t>(label); }

Breakpoints::Request request(const char* label, Point& point) {
  const std::span code(reinterpret_cast<const std::uint8_t*>(label), kMaxInstruction);
  return {address(label), 0, *linetable::plan_patch(code, address(label)).plan, &point};
}

}  // namespace

TEST_CASE("code with breakpoints does what it did, and is counted", "[breakpoint]") {
  static Breakpoints breakpoints;  // copies of instructions are in it
  static Point loop, load, called, back, also;
  CHECK(coz_test_sum(10) == 10055);
  CHECK(breakpoints
            .prepare({request(coz_test_loop, loop), request(coz_test_load, load),
                      request(coz_test_called, called), request(coz_test_back, back),
                      request(coz_test_load, also)})
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
  const auto position_of = [](std::uintptr_t where) {
    const ProgramPosition position = breakpoints.position_of(where);
    return std::pair(position.address, position.pushed);
  };
  const auto at = [](const char* label, std::uintptr_t offset = 0) {
    return std::pair(address(label) + offset, std::uintptr_t{0});
  };
  CHECK(position_of(address(coz_test_load)) == at(coz_test_load));
  const auto slot_of = [](const char* label) {
    return breakpoints.step_over(address(label) + 1, [](Point&) {});
  };
  REQUIRE(slot_of(coz_test_load) != 0);
  CHECK(slot_of(coz_test_load) != address(coz_test_load));
  CHECK(position_of(slot_of(coz_test_load)) == at(coz_test_load));
  CHECK(position_of(slot_of(coz_test_load) + 7) == at(coz_test_load, 7));
  // A call has pushed its return address when it jumps.
  CHECK(position_of(slot_of(coz_test_loop)) == at(coz_test_loop));
  CHECK(position_of(slot_of(coz_test_loop) + 6) == std::pair(address(coz_test_loop), 8UL));
  // A conditional jump is not done yet, or has fallen through.
  CHECK(position_of(slot_of(coz_test_back) + 2) == at(coz_test_back));
  CHECK(position_of(slot_of(coz_test_back) + 16) == at(coz_test_back, 2));
  CHECK(breakpoints.step_over(address(coz_test_loop), [](Point&) {}) == 0);

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

TEST_CASE("code that is not that of the file stays as it is", "[patch]") {
  static Point point;
  Breakpoints breakpoints;
  Breakpoints::Request wanted = request(coz_test_called, point);
  wanted.plan.original.back() ^= 1;
  const auto refusals = breakpoints.prepare({wanted});
  REQUIRE(refusals.size() == 1);
  CHECK(refusals[0].point == &point);
  CHECK(refusals[0].reason == std::string("the code in memory is not that of the file"));
  CHECK(breakpoints.is_empty());
}

#endif
