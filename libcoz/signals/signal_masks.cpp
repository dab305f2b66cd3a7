// The program's use of the signals that are ours, which it may think it has for itself
// (sample_signal.h): what it sets is remembered, not done.
#include <signal.h>
#include <sys/signalfd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

#include "common/raw_syscall.h"
#include "interpose/export.h"
#include "kernel/message.h"
#include "kernel/real.h"
#include "signals/sample_signal.h"
#include "thread/session.h"

namespace {

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

// Not for those who want all signals.
void tell_if_wanted(coz::SignalBits wanted, coz::SignalBits ours) noexcept {
  static std::atomic<bool> told{false};
  constexpr coz::SignalBits kEither = coz::bit_of(SIGTRAP) | coz::bit_of(SIGSTKFLT);
  if ((wanted & ours) == 0 || (wanted & kEither) == kEither || told.exchange(true)) return;
  const bool is_trap = (wanted & coz::bit_of(SIGTRAP)) != 0;
  coz::message(
      "the program reads %s from a descriptor, which never gets it, since the profiler uses that "
      "signal: profile it with --sampling %s",
      is_trap ? "SIGTRAP" : "SIGSTKFLT", is_trap ? "perf-signal" : "perf-trap");
}

// A child made by vfork has our memory, but signals of its own.
bool is_own_affair(int signal) noexcept {
  return !coz::is_ours(signal) || (!coz::has_breakpoints() && !coz::Session::is_in_own_process());
}

// For a signal that is ours.
sighandler_t set_handler(int number, sighandler_t handler, int flags) noexcept {
  if (handler == SIG_ERR) {
    errno = EINVAL;
    return SIG_ERR;
  }
  const struct sigaction was = coz::program_action(number);
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigemptyset(&action.sa_mask);
  // As libc has it.
  if ((flags & SA_NODEFER) == 0) sigaddset(&action.sa_mask, number);
  coz::set_program_action(number, action);
  return was.sa_handler;
}

}  // namespace

COZ_EXPORT int sigaction(int signal, const struct sigaction* action,
                         struct sigaction* before) noexcept {
  if (is_own_affair(signal)) return set_action(signal, action, before);
  const struct sigaction was = coz::program_action(signal);
  if (action != nullptr) {
    struct sigaction own = *action;
    sigdelset(&own.sa_mask, SIGKILL);
    sigdelset(&own.sa_mask, SIGSTOP);
    coz::set_program_action(signal, own);
  }
  if (before != nullptr) *before = was;
  return 0;
}

COZ_EXPORT sighandler_t signal(int number, sighandler_t handler) noexcept {
  if (is_own_affair(number)) return COZ_REAL(signal)(number, handler);
  return set_handler(number, handler, SA_RESTART);
}

// What `signal` is called in programs that are compiled for X/Open, and two more of its names.
COZ_EXPORT sighandler_t __sysv_signal(int number, sighandler_t handler) noexcept {
  if (is_own_affair(number)) return COZ_REAL(__sysv_signal)(number, handler);
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

namespace coz {
namespace {

bool runs_on_alternate_stack() noexcept {
  stack_t stack = {};
  raw_syscall(SYS_sigaltstack, 0, reinterpret_cast<long>(&stack));
  return (stack.ss_flags & SS_ONSTACK) != 0;
}

// A handler that was to run with a signal blocked has unblocked it. When it restores its mask, as
// libraries do, the signal is blocked as it was: in the kernel, which forgets that as the handler
// returns, and here, if the thread itself had blocked it. Known by the place on the stack.
class Released {
 public:
  // `blocked`: those of `bits` that the thread itself had blocked.
  void by_handler(SignalBits bits, SignalBits blocked) noexcept {
    if (bits == 0) return;
    bits_ = bits;
    blocked_ = blocked;
    place_ = here();
  }
  struct Again {
    SignalBits in_kernel = 0;
    SignalBits here = 0;
  };
  // Of `bits`, those that were.
  Again blocked_again(SignalBits bits) noexcept {
    const SignalBits again = bits_ & bits;
    if (again == 0) return {};
    bits_ &= ~again;
    const std::uintptr_t now = here();
    if ((now > place_ ? now - place_ : place_ - now) >= kOneHandler) return {};
    return {again, again & blocked_};
  }

 private:
  static constexpr std::uintptr_t kOneHandler = 8192;
  static std::uintptr_t here() noexcept {
    return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  }

  SignalBits bits_ = 0;
  SignalBits blocked_ = 0;
  std::uintptr_t place_ = 0;
};

thread_local constinit Released released __attribute__((tls_model("initial-exec")));

// What the kernel blocks of ours, in a handler: all of it, and what is so without the program.
struct InHandler {
  SignalBits blocked;
  SignalBits by_us;
};

// The kernel's mask has been changed, in what is not ours.
void change_kept(int how, SignalBits given, InHandler in_handler) noexcept {
  const SignalBits blocked = withheld::blocked();
  if (how == SIG_UNBLOCK) {
    released.by_handler(in_handler.blocked & given, blocked);
    withheld::set_blocked(blocked & ~given);
    return;
  }
  SignalBits in_kernel = in_handler.blocked & (in_handler.by_us | given);
  if (how == SIG_SETMASK) released.by_handler(in_handler.blocked & ~in_kernel, blocked);
  const Released::Again again = released.blocked_again(given & ~in_handler.blocked);
  in_kernel |= again.in_kernel;
  if (in_kernel != 0) change_kernel_mask(SIG_BLOCK, in_kernel);
  // What the handler blocks in the kernel, the thread itself may have blocked before.
  const SignalBits stays = how == SIG_BLOCK ? blocked : blocked & in_kernel;
  withheld::set_blocked(stays | again.here | (given & ~in_kernel));
}

}  // namespace

int change_mask(int how, const sigset_t* set, sigset_t* before, MaskCall call) noexcept {
  const SignalBits ours = our_signals();
  if (ours == 0) return call(how, set, before);
  const SignalBits wanted = set == nullptr ? 0 : bits_of(*set) & ours;
  const bool concerns_us = ((wanted | withheld::blocked()) & ours) != 0;
  const SignalBits never = never_blocked();
  // Whose mask it is takes a system call to know: not for those who have nothing to do with ours.
  SignalBits kept = concerns_us ? kept_for_program() : 0;
  sigset_t own = {};
  if (set != nullptr) {
    own = *set;
    if (how != SIG_UNBLOCK) assign_bits(own, bits_of(own) & ~(kept | never));
  }
  sigset_t was = {};
  const int result = call(how, set == nullptr ? nullptr : &own, &was);
  if (result != 0) return result;
  if (!concerns_us && (bits_of(was) & ours) != 0) kept = kept_for_program();
  // Only in a handler that was to run with them blocked, or on an alternate stack
  // (keep_samples_off).
  const SignalBits by_handler = bits_of(was) & kept & ~never;
  const bool is_on_alternate_stack = by_handler != 0 && runs_on_alternate_stack();
  const SignalBits blocked = withheld::blocked() & kept;
  if (set != nullptr && kept != 0) {
    change_kept(how, wanted & kept, {by_handler, is_on_alternate_stack ? kept : 0});
  }
  if (before != nullptr) {
    *before = was;
    const SignalBits seen = bits_of(was) & ~(is_on_alternate_stack ? kept : 0);
    assign_bits(*before, seen | blocked);
  }
  return result;
}

}  // namespace coz

COZ_EXPORT int pthread_sigmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  return coz::change_mask(how, set, before, COZ_REAL(pthread_sigmask));
}

COZ_EXPORT int sigprocmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  return coz::change_mask(how, set, before, COZ_REAL(sigprocmask));
}

// Samples are not among what the program reads, nor is what it is sent by their signal: a
// descriptor that is ready for one must be so for all threads, and the signal pending in the
// kernel.
COZ_EXPORT int signalfd(int descriptor, const sigset_t* set, int flags) noexcept {
  const coz::SignalBits ours = coz::our_signals();
  if (ours == 0) return COZ_REAL(signalfd)(descriptor, set, flags);
  sigset_t own = *set;
  coz::assign_bits(own, coz::bits_of(*set) & ~ours);
  tell_if_wanted(coz::bits_of(*set), ours);
  return COZ_REAL(signalfd)(descriptor, &own, flags);
}

// A thread that is not profiled would be killed at a breakpoint. (One that is unblocks what it
// begins with.)
COZ_EXPORT int pthread_attr_setsigmask_np(pthread_attr_t* attributes, const sigset_t* set) {
  const coz::SignalBits never = coz::never_blocked();
  if (never == 0 || set == nullptr) return COZ_REAL(pthread_attr_setsigmask_np)(attributes, set);
  sigset_t own = *set;
  coz::assign_bits(own, coz::bits_of(*set) & ~never);
  return COZ_REAL(pthread_attr_setsigmask_np)(attributes, &own);
}
