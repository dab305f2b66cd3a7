// For tests of signals/program_signals.h: SIGTRAP is the profiler's, and what the program does.
#ifndef TESTS_LIBCOZ_SIGNALS_TRAP_TAKEN_H
#define TESTS_LIBCOZ_SIGNALS_TRAP_TAKEN_H

#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>

#include "signals/program_signals.h"
#include "thread/session.h"

namespace trap_taken {

using namespace coz;

inline constexpr SignalBits kTrap = bit_of(SIGTRAP);
inline constexpr SignalBits kTrapStandIn = bit_of(stand_in_of(SIGTRAP));

inline std::atomic<int> handled{0};
inline std::atomic<int> handled_signal{0};
inline std::atomic<int> handled_code{0};
inline std::atomic<int> handled_value{0};
inline std::atomic<int> handled_by{0};
inline std::atomic<SignalBits> mask_in_handler{0};
inline std::atomic<int> not_passed_on{0};

inline void count(int signal, siginfo_t* info, void*) {
  handled_signal = signal == info->si_signo ? signal : -1;
  handled_code = info->si_code;
  handled_value = info->si_value.sival_int;
  handled_by = gettid();
  mask_in_handler = change_kernel_mask(SIG_BLOCK, 0);
  handled.fetch_add(1);
}

inline void count_alone(int signal) {
  handled_signal = signal;
  handled.fetch_add(1);
}

// As the sample handler does with what is not a sample.
inline void pass_on(int, siginfo_t* info, void* context) {
  if (!program_signals.pass_on(*info, context)) not_passed_on.fetch_add(1);
}

inline int set(int signal, SignalHandler handler, int flags = SA_SIGINFO, SignalBits mask = 0) {
  struct sigaction action = {};
  action.sa_sigaction = handler;
  action.sa_flags = flags;
  assign_bits(action.sa_mask, mask);
  return program_signals.set_action(signal, &action, nullptr);
}

inline int set_plain(int signal, sighandler_t handler, int flags = 0) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  return program_signals.set_action(signal, &action, nullptr);
}

inline struct sigaction action_of(int signal) {
  struct sigaction action = {};
  CHECK(program_signals.set_action(signal, nullptr, &action) == 0);
  return action;
}

// Returns what was blocked.
inline SignalBits change(int how, SignalBits bits) {
  sigset_t given;
  sigset_t before;
  sigemptyset(&given);
  assign_bits(given, bits);
  CHECK(program_signals.change_mask(how, &given, &before, pthread_sigmask) == 0);
  return bits_of(before);
}

inline SignalBits blocked() { return change(SIG_BLOCK, 0); }
inline SignalBits kernel_mask() { return change_kernel_mask(SIG_BLOCK, 0); }

inline int send_to_self(int signal) { return raise(program_signals.to_send(signal)); }

// Past the wrappers, as other processes and the processor do.
inline void send_by_own_number(int signal) { syscall(SYS_tgkill, getpid(), gettid(), signal); }

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

}  // namespace trap_taken

#endif  // TESTS_LIBCOZ_SIGNALS_TRAP_TAKEN_H
