#include "signals/program_signals.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <thread>

#include "thread/session.h"

using namespace coz;

namespace {

constexpr SignalBits kTrap = bit_of(SIGTRAP);
constexpr SignalBits kTrapStandIn = bit_of(stand_in_of(SIGTRAP));

std::atomic<int> handled{0};
std::atomic<int> handled_signal{0};
std::atomic<int> handled_code{0};
std::atomic<int> handled_value{0};
std::atomic<int> handled_by{0};
std::atomic<int> not_passed_on{0};

void count(int signal, siginfo_t* info, void*) {
  handled_signal = signal == info->si_signo ? signal : -1;
  handled_code = info->si_code;
  handled_value = info->si_value.sival_int;
  handled_by = gettid();
  handled.fetch_add(1);
}

void count_alone(int signal) {
  handled_signal = signal;
  handled.fetch_add(1);
}

// As the sample handler does with what is not a sample.
void pass_on(int, siginfo_t* info, void* context) {
  if (!program_signals.pass_on(*info, context)) not_passed_on.fetch_add(1);
}

int set(int signal, SignalHandler handler, int flags = SA_SIGINFO, SignalBits mask = 0) {
  struct sigaction action = {};
  action.sa_sigaction = handler;
  action.sa_flags = flags;
  assign_bits(action.sa_mask, mask);
  return program_signals.set_action(signal, &action, nullptr);
}

int set_plain(int signal, sighandler_t handler, int flags = 0) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  return program_signals.set_action(signal, &action, nullptr);
}

struct sigaction action_of(int signal) {
  struct sigaction action = {};
  CHECK(program_signals.set_action(signal, nullptr, &action) == 0);
  return action;
}

// Returns what was blocked.
SignalBits change(int how, SignalBits bits) {
  sigset_t given;
  sigset_t before;
  sigemptyset(&given);
  assign_bits(given, bits);
  CHECK(program_signals.change_mask(how, &given, &before, pthread_sigmask) == 0);
  return bits_of(before);
}

SignalBits blocked() { return change(SIG_BLOCK, 0); }
SignalBits kernel_mask() { return change_kernel_mask(SIG_BLOCK, 0); }

int send_to_self(int signal) { return raise(program_signals.to_send(signal)); }

// Past the wrappers, as other processes and the processor do.
void send_by_own_number(int signal) { syscall(SYS_tgkill, getpid(), gettid(), signal); }

template <typename Condition>
bool comes_true(Condition condition) {
  for (int i = 0; i < 20000; ++i) {
    if (condition()) return true;
    usleep(1000);
  }
  return false;
}

// SIGTRAP is ours for as long as this lives.
class TrapTaken {
 public:
  explicit TrapTaken(bool has_breakpoints = false) {
    handled = handled_signal = not_passed_on = 0;
    Session::set_own_process();
    program_signals.take_over(pass_on);
    program_signals.keep(SIGTRAP, has_breakpoints);
    program_signals.begin_thread();
  }
  ~TrapTaken() {
    change(SIG_UNBLOCK, kTrap);
    program_signals.take_over(nullptr);
    program_signals.keep(0, false);
    signal(SIGTRAP, SIG_DFL);
    signal(SIGSTKFLT, SIG_DFL);
    signal(stand_in_of(SIGTRAP), SIG_DFL);
  }
};

// How a child ends that runs `body`: its exit status, or the negative number of a signal.
// `is_known`: as in a child of fork(), not one of vfork().
template <typename Body>
int end_of_child(Body body, bool is_known = true) {
  const pid_t child = fork();
  if (child == 0) {
    if (is_known) Session::set_own_process();
    body();
    _exit(0);
  }
  int status = -1;
  REQUIRE(TEMP_FAILURE_RETRY(waitpid(child, &status, 0)) == child);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

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

TEST_CASE("a handler gets the signal under its own number, however it was sent") {
  const TrapTaken taken;
  set(SIGTRAP, count);
  send_to_self(SIGTRAP);
  CHECK(handled == 1);
  CHECK(handled_signal == SIGTRAP);
  CHECK(handled_code == SI_TKILL);
  send_by_own_number(SIGTRAP);
  CHECK(handled == 2);
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

TEST_CASE("what is blocked is pending once, and comes when it is unblocked") {
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

TEST_CASE("what the process is sent goes to a thread that does not block it") {
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

TEST_CASE("a wait returns the signal under its own number") {
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

TEST_CASE("the default action ends the process by the signal itself") {
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
