// Signals by libc's older functions, and by the names that libc itself calls: within libc they go
// past signal_masks.cpp and signals.cpp, on which they are built here. But for sigset: a library
// may have a variable of that name, as <signal.h> declares it for X/Open only, and would get ours.
#include <signal.h>

#include <atomic>
#include <cerrno>

#include "interpose/export.h"
#include "kernel/real.h"
#include "signals/sample_signal.h"

// They are deprecated, which is for programs to know.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace {

// Sets of the signals that an int has room for.
using OldSet = int;

sigset_t set_of(OldSet bits) noexcept {
  sigset_t set;
  sigemptyset(&set);
  coz::assign_bits(set, static_cast<unsigned int>(bits));
  return set;
}

OldSet old_set_of(const sigset_t& set) noexcept {
  return static_cast<OldSet>(static_cast<unsigned int>(coz::bits_of(set)));
}

// What was blocked; -1 with errno.
OldSet change_old(int how, OldSet bits) noexcept {
  const sigset_t set = set_of(bits);
  sigset_t before;
  return sigprocmask(how, &set, &before) != 0 ? -1 : old_set_of(before);
}

// -1 with errno, as for a signal that there is not.
int change_one(int how, int signal) noexcept {
  sigset_t set;
  sigemptyset(&set);
  return sigaddset(&set, signal) != 0 ? -1 : sigprocmask(how, &set, nullptr);
}

int wait_without(int signal) {
  sigset_t mask;
  sigemptyset(&mask);
  if (sigprocmask(SIG_BLOCK, nullptr, &mask) != 0 || sigdelset(&mask, signal) != 0) return -1;
  return sigsuspend(&mask);
}

int wait_with(OldSet bits) {
  const sigset_t mask = set_of(bits);
  return sigsuspend(&mask);
}

}  // namespace

COZ_EXPORT int __sigaction(int signal, const struct sigaction* action,
                           struct sigaction* before) noexcept {
  return sigaction(signal, action, before);
}

COZ_EXPORT int __sigsuspend(const sigset_t* mask) { return sigsuspend(mask); }

COZ_EXPORT int sighold(int signal) noexcept { return change_one(SIG_BLOCK, signal); }

COZ_EXPORT int sigrelse(int signal) noexcept { return change_one(SIG_UNBLOCK, signal); }

COZ_EXPORT int sigignore(int signal) noexcept {
  struct sigaction action = {};
  action.sa_handler = SIG_IGN;
  return sigaction(signal, &action, nullptr);
}

COZ_EXPORT int siginterrupt(int signal, int interrupts) noexcept {
  if (!coz::is_ours(signal)) return COZ_REAL(siginterrupt)(signal, interrupts);
  struct sigaction action = coz::program_action(signal);
  const int without = action.sa_flags & ~SA_RESTART;
  action.sa_flags = interrupts != 0 ? without : without | SA_RESTART;
  coz::set_program_action(signal, action);
  return 0;
}

COZ_EXPORT OldSet sigblock(OldSet bits) noexcept { return change_old(SIG_BLOCK, bits); }

COZ_EXPORT OldSet sigsetmask(OldSet bits) noexcept { return change_old(SIG_SETMASK, bits); }

COZ_EXPORT OldSet siggetmask() noexcept { return change_old(SIG_BLOCK, 0); }

// X/Open's; the header calls it __xpg_sigpause.
COZ_EXPORT int sigpause(int signal) { return wait_without(signal); }

COZ_EXPORT int __sigpause(int signal_or_set, int is_signal) {
  return is_signal != 0 ? wait_without(signal_or_set) : wait_with(signal_or_set);
}

// BSD's, which has the name in libc.
COZ_EXPORT int coz_bsd_sigpause(OldSet bits) __asm__("sigpause");
COZ_EXPORT int coz_bsd_sigpause(OldSet bits) { return wait_with(bits); }
