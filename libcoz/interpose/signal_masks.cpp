// The program's use of the signals that are ours, which it may think it has for itself
// (sample_signal.h): what it sets is remembered, not done.
#include <signal.h>
#include <sys/signalfd.h>

#include <atomic>
#include <cstdint>

#include "interpose/export.h"
#include "interpose/real.h"
#include "interpose/sample_signal.h"
#include "runtime.h"

namespace {

using coz::WithoutOurs;

// Bits for signals whose handlers were to run with one of ours blocked, or were not, and get
// another mask: with SIGTRAP unblocked where they may run into a breakpoint, with the samples'
// blocked on an alternate stack. The program sees the mask that it set.
std::atomic<std::uint64_t> meant_to_block_trap{0};
std::atomic<std::uint64_t> meant_to_take_samples{0};

std::uint64_t bit(int signal) noexcept { return std::uint64_t{1} << ((signal - 1) & 63); }

void note(std::atomic<std::uint64_t>& bits, int signal, bool is_set) noexcept {
  if (is_set) {
    bits.fetch_or(bit(signal));
  } else {
    bits.fetch_and(~bit(signal));
  }
}

bool runs_on_alternate_stack(const struct sigaction& action) noexcept {
  return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN &&
         (action.sa_flags & SA_ONSTACK) != 0;
}

// For a signal that is not ours.
int set_action(int signal, const struct sigaction* action, struct sigaction* before) noexcept {
  if (coz::sample_signal() == 0 && !coz::has_breakpoints()) {
    return COZ_REAL(sigaction)(signal, action, before);
  }
  if (signal < 1 || signal >= NSIG) return COZ_REAL(sigaction)(signal, action, before);
  const bool blocked_trap = (meant_to_block_trap.load() & bit(signal)) != 0;
  const bool took_samples = (meant_to_take_samples.load() & bit(signal)) != 0;
  struct sigaction own = {};
  bool blocks_trap = false;
  bool takes_samples = false;
  if (action != nullptr) {
    own = *action;
    blocks_trap = coz::has_breakpoints() && sigismember(&own.sa_mask, SIGTRAP) == 1;
    if (blocks_trap) sigdelset(&own.sa_mask, SIGTRAP);
    const int samples = coz::sample_signal();
    takes_samples =
        runs_on_alternate_stack(own) && samples != 0 && sigismember(&own.sa_mask, samples) == 0;
    if (takes_samples) coz::keep_samples_off(own);
  }
  const int result = COZ_REAL(sigaction)(signal, action == nullptr ? nullptr : &own, before);
  if (result != 0) return result;
  if (before != nullptr && blocked_trap) sigaddset(&before->sa_mask, SIGTRAP);
  if (before != nullptr && took_samples) sigdelset(&before->sa_mask, coz::sample_signal());
  if (action != nullptr) {
    note(meant_to_block_trap, signal, blocks_trap);
    note(meant_to_take_samples, signal, takes_samples);
  }
  return result;
}

// A child made by vfork has our memory, but signals of its own.
bool is_own_affair(int signal) noexcept {
  return !coz::is_ours(signal) || (!coz::has_breakpoints() && !coz::Runtime::is_in_own_process());
}

}  // namespace

COZ_EXPORT int sigaction(int signal, const struct sigaction* action,
                         struct sigaction* before) noexcept {
  if (is_own_affair(signal)) return set_action(signal, action, before);
  const struct sigaction was = coz::program_action(signal);
  if (action != nullptr) coz::set_program_action(signal, *action);
  if (before != nullptr) *before = was;
  return 0;
}

COZ_EXPORT sighandler_t signal(int number, sighandler_t handler) noexcept {
  if (is_own_affair(number)) return COZ_REAL(signal)(number, handler);
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

// Samples are not among what the program reads.
COZ_EXPORT int signalfd(int descriptor, const sigset_t* set, int flags) noexcept {
  return COZ_REAL(signalfd)(descriptor, WithoutOurs(set).get(), flags);
}

// A thread that begins with samples blocked would take none.
COZ_EXPORT int pthread_attr_setsigmask_np(pthread_attr_t* attributes, const sigset_t* set) {
  return COZ_REAL(pthread_attr_setsigmask_np)(attributes, WithoutOurs(set).get());
}
