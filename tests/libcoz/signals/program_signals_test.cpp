#include "signals/program_signals.h"

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <thread>

#include "tests/libcoz/signals/trap_taken.h"

using namespace coz;
using namespace trap_taken;

// [native]: the signal is sent on with a code of ours, which qemu 7.2 hands to the kernel with
// uninitialised bytes behind it; then the kernel refuses it (E2BIG).

TEST_CASE("bits of signals are those of libc's sets") {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, 1);
  sigaddset(&set, 64);
  CHECK(bits_of(set) == (bit_of(1) | bit_of(64)));
  sigset_t other;
  sigemptyset(&other);
  assign_bits(other, kTrap);
  CHECK(sigismember(&other, SIGTRAP) == 1);
  CHECK(sigismember(&other, SIGABRT) == 0);
}

TEST_CASE("a signal that is not needed is the program's again") {
  signal(SIGSTKFLT, SIG_IGN);
  const TrapTaken taken;
  CHECK(program_signals.taken() == kTrap);
  CHECK(signal(SIGSTKFLT, SIG_DFL) == SIG_IGN);
  CHECK(program_signals.to_send(SIGSTKFLT) == SIGSTKFLT);
  CHECK(program_signals.to_send(SIGTRAP) == stand_in_of(SIGTRAP));
  CHECK(program_signals.to_send(SIGHUP) == SIGHUP);
  CHECK(program_signals.to_send(stand_in_of(SIGTRAP)) == 0);
  CHECK(program_signals.to_send(stand_in_of(SIGSTKFLT)) == stand_in_of(SIGSTKFLT));
}

TEST_CASE("a mask in the kernel has the stand-in, and never the signal itself") {
  const TrapTaken taken;
  const SignalBits before = change(SIG_BLOCK, ~SignalBits{0});
  CHECK((before & kTrap) == 0);
  CHECK((kernel_mask() & (kTrap | kTrapStandIn | bit_of(SIGHUP))) ==
        (kTrapStandIn | bit_of(SIGHUP)));
  CHECK((blocked() & (kTrap | bit_of(SIGHUP))) == (kTrap | bit_of(SIGHUP)));
  change(SIG_SETMASK, before);
  CHECK((kernel_mask() & (kTrap | kTrapStandIn)) == 0);
  CHECK(change(SIG_BLOCK, kTrapStandIn) == before);
  CHECK((kernel_mask() & kTrapStandIn) == 0);
  CHECK(program_signals.change_mask(-1, nullptr, nullptr, pthread_sigmask) == 0);
}

TEST_CASE("a thread that begins with the signal blocked blocks the stand-in instead") {
  const TrapTaken taken;
  std::thread([] {
    change_kernel_mask(SIG_BLOCK, kTrap);
    program_signals.begin_thread();
    CHECK((kernel_mask() & (kTrap | kTrapStandIn)) == kTrapStandIn);
    CHECK((blocked() & kTrap) == kTrap);
    SignalBits inherited = 0;
    std::thread([&] { inherited = blocked(); }).join();
    CHECK((inherited & kTrap) == kTrap);
  }).join();
}

TEST_CASE("a handler gets the signal under its own number, however it was sent", "[native]") {
  const TrapTaken taken;
  set(SIGTRAP, count);
  send_to_self(SIGTRAP);
  CHECK(handled == 1);
  CHECK(handled_signal == SIGTRAP);
  CHECK(handled_code == SI_TKILL);
  send_by_own_number(SIGTRAP);
  CHECK(handled == 2);
  // It runs after the profiler's handler, not within it.
  CHECK((mask_in_handler & (kTrap | kTrapStandIn)) == kTrapStandIn);
  CHECK(handled_signal == SIGTRAP);
  CHECK(handled_code == SI_TKILL);
#if defined(__x86_64__)
  asm volatile("int3");
  CHECK(handled == 3);
  CHECK(handled_code == SI_KERNEL);
#endif
  handled = 0;
  const pid_t child = fork();
  if (child == 0) {
    union sigval value = {};
    value.sival_int = 7;
    sigqueue(getppid(), SIGTRAP, value);
    _exit(0);
  }
  CHECK(comes_true([] { return handled == 1; }));
  CHECK(handled_code == SI_QUEUE);
  CHECK(handled_value == 7);
  waitpid(child, nullptr, 0);
  set_plain(SIGTRAP, count_alone);
  send_to_self(SIGTRAP);
  CHECK(handled == 2);
  CHECK(handled_signal == SIGTRAP);
}

TEST_CASE("what is blocked is pending once, and comes when it is unblocked", "[native]") {
  const TrapTaken taken;
  set(SIGTRAP, count);
  change(SIG_BLOCK, kTrap);
  send_to_self(SIGTRAP);
  send_by_own_number(SIGTRAP);
  CHECK(handled == 0);
  CHECK(not_passed_on == 1);  // no handler of the program's will run here because of it
  sigset_t pending;
  sigpending(&pending);
  CHECK((program_signals.for_program(bits_of(pending)) & kTrap) == kTrap);
  change(SIG_UNBLOCK, kTrap);
  CHECK(handled == 1);
}

TEST_CASE("what the process is sent goes to a thread that does not block it", "[native]") {
  const TrapTaken taken;
  set(SIGTRAP, count);
  std::atomic<int> other{0};
  std::atomic<bool> over{false};
  std::thread thread([&] {
    other = gettid();
    while (!over) usleep(500);
  });
  REQUIRE(comes_true([&] { return other != 0; }));
  change(SIG_BLOCK, kTrap);
  kill(getpid(), SIGTRAP);  // interrupts this thread, which does not block it in the kernel
  CHECK(comes_true([] { return handled == 1; }));
  CHECK(handled_by == other);
  CHECK(handled_code == SI_USER);
  over = true;
  thread.join();
}

TEST_CASE("a wait returns the signal under its own number", "[native]") {
  const TrapTaken taken;
  change(SIG_BLOCK, kTrap);
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGTRAP);
  wanted = program_signals.for_kernel(wanted);
  for (const bool by_own_number : {true, false}) {
    if (by_own_number) {
      send_by_own_number(SIGTRAP);
    } else {
      send_to_self(SIGTRAP);
    }
    siginfo_t info = {};
    REQUIRE(sigwaitinfo(&wanted, &info) == stand_in_of(SIGTRAP));
    CHECK(ProgramSignals::restore(info));
    CHECK(info.si_signo == SIGTRAP);
    CHECK(info.si_pid == getpid());
  }
}

TEST_CASE("a stand-in that another process sends is no signal of the program's") {
  const TrapTaken taken;
  set(SIGTRAP, count);
  siginfo_t info = {};
  info.si_signo = stand_in_of(SIGTRAP);
  info.si_pid = getppid();
  CHECK_FALSE(ProgramSignals::restore(info));
  CHECK(end_of_child([] { kill(getppid(), stand_in_of(SIGTRAP)); }) == 0);
  usleep(20000);
  CHECK(handled == 0);
}

TEST_CASE("actions are read back as they were set") {
  const TrapTaken taken;
  CHECK(action_of(SIGTRAP).sa_handler == SIG_DFL);
  set(SIGTRAP, count, SA_SIGINFO | SA_NODEFER | SA_RESETHAND, kTrap | bit_of(SIGHUP));
  struct sigaction now = action_of(SIGTRAP);
  CHECK(now.sa_sigaction == count);
  CHECK((now.sa_flags & SA_NODEFER) != 0);
  CHECK((now.sa_flags & static_cast<int>(SA_RESETHAND)) != 0);
  CHECK((bits_of(now.sa_mask) & ~kTrapStandIn) == (kTrap | bit_of(SIGHUP)));
  send_to_self(SIGTRAP);
  CHECK(handled == 1);
  CHECK(action_of(SIGTRAP).sa_handler == SIG_DFL);
  set_plain(SIGTRAP, count_alone);
  now = action_of(SIGTRAP);
  CHECK(now.sa_handler == count_alone);
  CHECK((now.sa_flags & SA_SIGINFO) == 0);
  set_plain(SIGTRAP, SIG_IGN);
  CHECK(action_of(SIGTRAP).sa_handler == SIG_IGN);
  CHECK(program_signals.set_action(65, &now, nullptr) == -1);
  CHECK(errno == EINVAL);
  // Another signal's mask, too.
  set(SIGUSR1, count, SA_SIGINFO, kTrap);
  CHECK((bits_of(action_of(SIGUSR1).sa_mask) & ~kTrapStandIn) == kTrap);
  struct sigaction in_kernel = {};
  sigaction(SIGUSR1, nullptr, &in_kernel);
  CHECK(bits_of(in_kernel.sa_mask) == kTrapStandIn);
  set_plain(SIGUSR1, SIG_DFL);
}

TEST_CASE("what is ignored is pending no more, and interrupts nothing") {
  const TrapTaken taken;
  set(SIGTRAP, count);
  change(SIG_BLOCK, kTrap);
  send_to_self(SIGTRAP);
  set_plain(SIGTRAP, SIG_IGN);
  set(SIGTRAP, count);
  change(SIG_UNBLOCK, kTrap);
  CHECK(handled == 0);
  set_plain(SIGTRAP, SIG_IGN);
  send_by_own_number(SIGTRAP);
  CHECK(not_passed_on == 1);
}
