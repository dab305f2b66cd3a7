// The program's use of the signals that are ours, which it may think it has for itself
// (sample_signal.h): what it sets is remembered, not done.
#include <signal.h>

#include <atomic>
#include <cstdint>

#include "interpose/export.h"
#include "interpose/real.h"
#include "interpose/sample_signal.h"

namespace {

using coz::WithoutOurs;

// A bit for each signal whose handler was to run with SIGTRAP blocked, and does not, since it may
// run into a breakpoint.
std::atomic<std::uint64_t> meant_to_block_trap{0};

std::uint64_t bit(int signal) noexcept { return std::uint64_t{1} << ((signal - 1) & 63); }

// For a signal that is not ours.
int set_action(int signal, const struct sigaction* action, struct sigaction* before) noexcept {
  if (!coz::has_breakpoints() || signal < 1) return COZ_REAL(sigaction)(signal, action, before);
  const bool blocked = (meant_to_block_trap.load(std::memory_order_relaxed) & bit(signal)) != 0;
  struct sigaction own = {};
  bool blocks = false;
  if (action != nullptr) {
    own = *action;
    blocks = sigismember(&own.sa_mask, SIGTRAP) == 1;
    sigdelset(&own.sa_mask, SIGTRAP);
  }
  const int result = COZ_REAL(sigaction)(signal, action == nullptr ? nullptr : &own, before);
  if (result != 0) return result;
  if (before != nullptr && blocked) sigaddset(&before->sa_mask, SIGTRAP);
  if (action != nullptr && blocks) meant_to_block_trap.fetch_or(bit(signal));
  if (action != nullptr && !blocks) meant_to_block_trap.fetch_and(~bit(signal));
  return result;
}

}  // namespace

COZ_EXPORT int sigaction(int signal, const struct sigaction* action,
                         struct sigaction* before) noexcept {
  if (!coz::is_ours(signal)) return set_action(signal, action, before);
  const struct sigaction was = coz::program_action(signal);
  if (action != nullptr) coz::set_program_action(signal, *action);
  if (before != nullptr) *before = was;
  return 0;
}

COZ_EXPORT sighandler_t signal(int number, sighandler_t handler) noexcept {
  if (!coz::is_ours(number)) return COZ_REAL(signal)(number, handler);
  const struct sigaction was = coz::program_action(number);
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  coz::set_program_action(number, action);
  return was.sa_handler;
}

COZ_EXPORT int pthread_sigmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  const WithoutOurs wanted(how == SIG_UNBLOCK ? nullptr : set);
  return COZ_REAL(pthread_sigmask)(how, how == SIG_UNBLOCK ? set : wanted.get(), before);
}

COZ_EXPORT int sigprocmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  const WithoutOurs wanted(how == SIG_UNBLOCK ? nullptr : set);
  return COZ_REAL(sigprocmask)(how, how == SIG_UNBLOCK ? set : wanted.get(), before);
}
