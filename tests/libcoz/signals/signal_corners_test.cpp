// How the program's use of a signal that the profiler takes ends the process, meets alternate
// stacks, and goes on in children (signals/program_signals.h).
#include <signal.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>

#include "tests/libcoz/signals/trap_taken.h"

using namespace coz;
using namespace trap_taken;

// [native]: as in program_signals_test.cpp.
TEST_CASE("the default action ends the process by the signal itself", "[native]") {
  const TrapTaken taken;
  CHECK(end_of_child([] { send_to_self(SIGTRAP); }) == -SIGTRAP);
  CHECK(end_of_child([] { send_by_own_number(SIGTRAP); }) == -SIGTRAP);
  CHECK(end_of_child([] {
          change(SIG_BLOCK, kTrap);
          send_by_own_number(SIGTRAP);
          change(SIG_UNBLOCK, kTrap);
        }) == -SIGTRAP);
}

#if defined(__x86_64__)
TEST_CASE("what the processor raises can be neither ignored nor blocked") {
  const TrapTaken taken;
  CHECK(end_of_child([] { asm volatile("int3"); }) == -SIGTRAP);
  CHECK(end_of_child([] {
          set_plain(SIGTRAP, SIG_IGN);
          asm volatile("int3");
        }) == -SIGTRAP);
  CHECK(end_of_child([] {
          set(SIGTRAP, count);
          change(SIG_BLOCK, kTrap);
          asm volatile("int3");
        }) == -SIGTRAP);
}
#endif

namespace {

std::array<SignalBits, 3> seen_masks;

// As libraries do around what must not be disturbed.
void save_and_restore(int, siginfo_t*, void*) {
  seen_masks[0] = kernel_mask();
  const SignalBits before = change(SIG_SETMASK, 0);
  seen_masks[1] = kernel_mask();
  change(SIG_SETMASK, before);
  seen_masks[2] = before;
}

}  // namespace

TEST_CASE("a handler on an alternate stack runs without samples, and stays so") {
  static std::array<char, 65536> memory;
  stack_t before = {};
  const stack_t stack = {.ss_sp = memory.data(), .ss_flags = 0, .ss_size = memory.size()};
  sigaltstack(&stack, &before);
  for (const bool has_breakpoints : {false, true}) {
    const TrapTaken taken(has_breakpoints);
    set(SIGUSR1, save_and_restore, SA_SIGINFO | SA_ONSTACK);
    CHECK(bits_of(action_of(SIGUSR1).sa_mask) == 0);
    raise(SIGUSR1);
    // Where there are breakpoint instructions, nothing may block SIGTRAP.
    const SignalBits expected = has_breakpoints ? 0 : kTrap;
    CHECK((seen_masks[0] & kTrap) == expected);
    CHECK((seen_masks[1] & kTrap) == expected);
    CHECK((seen_masks[2] & kTrap) == 0);
    CHECK((kernel_mask() & kTrap) == 0);
    set_plain(SIGUSR1, SIG_DFL);
  }
  sigaltstack(&before, nullptr);
}

TEST_CASE("a handler on an alternate stack that was left by longjmp blocks samples no longer") {
  const TrapTaken taken;
  set(SIGUSR1, count, SA_SIGINFO | SA_ONSTACK);
  change_kernel_mask(SIG_BLOCK, kTrap);  // as it is left
  change(SIG_UNBLOCK, kTrap);
  CHECK((kernel_mask() & kTrap) == 0);
  change_kernel_mask(SIG_BLOCK, kTrap);
  change(SIG_SETMASK, 0);
  CHECK((kernel_mask() & kTrap) == 0);
  set_plain(SIGUSR1, SIG_DFL);
}

TEST_CASE("handlers that were there before are seen to when the signal is taken") {
  struct sigaction action = {};
  action.sa_sigaction = count;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGUSR2, &action, nullptr);
  const TrapTaken taken;
  struct sigaction in_kernel = {};
  sigaction(SIGUSR2, nullptr, &in_kernel);
  CHECK(bits_of(in_kernel.sa_mask) == kTrap);
  CHECK(bits_of(action_of(SIGUSR2).sa_mask) == 0);
  set_plain(SIGUSR2, SIG_DFL);
}

TEST_CASE("a forked child has the signal for itself, as the program had set it") {
  const TrapTaken taken;
  set(SIGTRAP, count, SA_SIGINFO | SA_RESETHAND);
  change(SIG_BLOCK, kTrap);
  send_to_self(SIGTRAP);
  const auto body = [] {
    program_signals.in_forked_child();
    struct sigaction now = {};
    sigaction(SIGTRAP, nullptr, &now);
    const bool holds = program_signals.taken() == 0 && now.sa_sigaction == count &&
                       (now.sa_flags & static_cast<int>(SA_RESETHAND)) != 0 &&
                       (kernel_mask() & (kTrap | kTrapStandIn)) == kTrap;
    change(SIG_UNBLOCK, kTrap);
    _exit(holds && handled == 0 ? 0 : 1);
  };
  CHECK(end_of_child(body) == 0);
}

TEST_CASE("a forked child with breakpoint instructions blocks SIGTRAP by its stand-in") {
  const TrapTaken taken(true);
  change(SIG_BLOCK, kTrap);
  const auto body = [] {
    program_signals.in_forked_child();
    const bool holds = program_signals.taken() == kTrap && (blocked() & kTrap) != 0 &&
                       (kernel_mask() & (kTrap | kTrapStandIn)) == kTrapStandIn;
    _exit(holds ? 0 : 1);
  };
  CHECK(end_of_child(body) == 0);
}

TEST_CASE("in a child that libc does not tell us of, calls reach the signal itself") {
  const TrapTaken taken;
  const auto body = [] {
    const bool is_free = program_signals.taken() == 0;
    change(SIG_BLOCK, kTrap);
    _exit(is_free && (kernel_mask() & (kTrap | kTrapStandIn)) == kTrap ? 0 : 1);
  };
  CHECK(end_of_child(body, false) == 0);
}
