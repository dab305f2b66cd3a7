// What the program does about signals: actions, masks and descriptors. For the signals that the
// profiler takes for itself see signals/program_signals.h.
#include <signal.h>
#include <sys/signalfd.h>

#include <atomic>
#include <cerrno>

#include "interpose/export.h"
#include "kernel/message.h"
#include "kernel/real.h"
#include "signals/program_signals.h"

using coz::bit_of;
using coz::bits_of;
using coz::program_signals;

namespace {

// What signal() and __sysv_signal() do by sigaction().
sighandler_t set_handler(int signal, sighandler_t handler, int flags) noexcept {
  if (handler == SIG_ERR) {
    errno = EINVAL;
    return SIG_ERR;
  }
  struct sigaction action = {};
  struct sigaction before;
  action.sa_handler = handler;
  action.sa_flags = flags;
  if ((flags & SA_NODEFER) == 0) {
    coz::assign_bits(action.sa_mask, bit_of(signal));
  }
  return program_signals.set_action(signal, &action, &before) == 0 ? before.sa_handler : SIG_ERR;
}

// Is it one that the profiler uses, or the stand-in of one?
bool is_ours(int signal) noexcept {
  if (signal <= 0 || signal >= NSIG) return false;
  const coz::SignalBits taken = program_signals.taken();
  return ((taken | program_signals.for_kernel(taken)) & bit_of(signal)) != 0;
}

// A program that wants all signals is not after this one.
void warn_if_wanted(coz::SignalBits wanted) noexcept {
  static std::atomic<bool> warned{false};
  constexpr coz::SignalBits kBoth = bit_of(SIGTRAP) | bit_of(SIGSTKFLT);
  if ((wanted & kBoth) == kBoth || warned.exchange(true)) return;
  const bool is_trap = (wanted & bit_of(SIGTRAP)) != 0;
  coz::message(
      "the program reads %s from a descriptor, which never gets it, since the profiler uses that "
      "signal: profile it with --sampling %s",
      is_trap ? "SIGTRAP" : "SIGSTKFLT", is_trap ? "perf-signal" : "perf-trap");
}

}  // namespace

COZ_EXPORT int sigaction(int signal, const struct sigaction* action,
                         struct sigaction* before) noexcept {
  return program_signals.set_action(signal, action, before);
}

COZ_EXPORT int __sigaction(int signal, const struct sigaction* action,
                           struct sigaction* before) noexcept {
  return program_signals.set_action(signal, action, before);
}

COZ_EXPORT sighandler_t signal(int number, sighandler_t handler) noexcept {
  if (!is_ours(number)) return COZ_REAL(signal)(number, handler);
  return set_handler(number, handler, SA_RESTART);
}

// The name of signal() in programs that are compiled for X/Open.
COZ_EXPORT sighandler_t __sysv_signal(int number, sighandler_t handler) noexcept {
  if (!is_ours(number)) return COZ_REAL(__sysv_signal)(number, handler);
  return set_handler(number, handler, static_cast<int>(SA_RESETHAND | SA_NODEFER));
}

COZ_EXPORT sighandler_t sysv_signal(int number, sighandler_t handler) noexcept {
  return __sysv_signal(number, handler);
}

COZ_EXPORT sighandler_t bsd_signal(int number, sighandler_t handler) noexcept {
  return signal(number, handler);
}

COZ_EXPORT sighandler_t ssignal(int number, sighandler_t handler) noexcept {
  return signal(number, handler);
}

COZ_EXPORT int pthread_sigmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  return program_signals.change_mask(how, set, before, COZ_REAL(pthread_sigmask));
}

COZ_EXPORT int sigprocmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  return program_signals.change_mask(how, set, before, COZ_REAL(sigprocmask));
}

COZ_EXPORT int pthread_attr_setsigmask_np(pthread_attr_t* attributes, const sigset_t* set) {
  if (set == nullptr) return COZ_REAL(pthread_attr_setsigmask_np)(attributes, set);
  const sigset_t own = program_signals.for_kernel(*set);
  return COZ_REAL(pthread_attr_setsigmask_np)(attributes, &own);
}

COZ_EXPORT int sigpending(sigset_t* set) noexcept {
  const int result = COZ_REAL(sigpending)(set);
  if (result == 0) {
    const coz::SignalBits stand_ins = program_signals.for_kernel(program_signals.taken());
    coz::assign_bits(*set, program_signals.for_program(bits_of(*set)) & ~stand_ins);
  }
  return result;
}

// What is read from a descriptor would carry the number of the stand-in: it is left out.
COZ_EXPORT int signalfd(int descriptor, const sigset_t* set, int flags) noexcept {
  const coz::SignalBits taken = program_signals.taken();
  if ((bits_of(*set) & taken) == 0) return COZ_REAL(signalfd)(descriptor, set, flags);
  warn_if_wanted(bits_of(*set));
  sigset_t own = *set;
  coz::assign_bits(own, bits_of(*set) & ~(taken | program_signals.for_kernel(taken)));
  return COZ_REAL(signalfd)(descriptor, &own, flags);
}
