#include "signals/program_signals.h"

#include <ucontext.h>

#include "common/raw_syscall.h"
#include "kernel/message.h"
#include "kernel/real.h"
#include "thread/session.h"

namespace coz {

constinit ProgramSignals program_signals;

namespace {

// Marks what pass_on() has sent: no other sender has codes like these, and the kernel lets any
// thread send them to any other of its process.
constexpr int kSentOn = -4096;

long address(const void* what) noexcept { return reinterpret_cast<long>(what); }

int own_process() noexcept { return static_cast<int>(raw_syscall(SYS_getpid)); }

int own_thread() noexcept { return static_cast<int>(raw_syscall(SYS_gettid)); }

SignalBits stand_ins(SignalBits signals) noexcept {
  SignalBits bits = 0;
  for (const int each : {SIGTRAP, SIGSTKFLT}) {
    if ((signals & bit_of(each)) != 0) bits |= bit_of(stand_in_of(each));
  }
  return bits;
}

bool runs_on_alternate_stack() noexcept {
  stack_t stack = {};
  raw_syscall(SYS_sigaltstack, 0, address(&stack));
  return (stack.ss_flags & SS_ONSTACK) != 0;
}

bool is_handler(const struct sigaction& action) noexcept {
  return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
}

// Takes effect as soon as the thread does not block the signal: in the sample handler as that
// returns, so that a core dump shows where the thread was.
void end_process_by(int signal) noexcept {
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  COZ_REAL(sigaction)(signal, &action, nullptr);
  raw_syscall(SYS_tgkill, own_process(), own_thread(), signal);
}

// A signal below the real-time ones is pending once, however often it was sent: what was sent again
// before this one is handled is dropped.
void drop_repeated(int number) noexcept {
  const SignalBits bits = bit_of(number);
  const timespec at_once = {0, 0};
  while (raw_syscall(SYS_rt_sigtimedwait, address(&bits), 0, address(&at_once), sizeof bits) > 0) {
  }
}

void warn_of_stand_in(int number) noexcept {
  static std::atomic<bool> warned{false};
  if (warned.exchange(true)) return;
  message("the program handles signal %d, which the profiler uses itself: it never comes", number);
}

// Other signals wait until our handler lets them come, or has returned. So it sees which of them
// has ended a call (sample_handler.cpp). And with breakpoint instructions, a handler of the
// program's that interrupted ours might run into one while SIGTRAP is blocked: the kernel would end
// the process. Faults do not wait, nor do calls that a filter refuses.
void block_all_in_handler(int signal) noexcept {
  struct sigaction action = {};
  COZ_REAL(sigaction)(signal, nullptr, &action);
  // This leaves out libc's own signals. But the one that cancels a thread must find the thread in
  // its call, and not in our handler.
  sigfillset(&action.sa_mask);
  for (const int now : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS}) sigdelset(&action.sa_mask, now);
  assign_bits(action.sa_mask, bits_of(action.sa_mask) | bit_of(kCancel));
  COZ_REAL(sigaction)(signal, &action, nullptr);
}

}  // namespace

void ProgramSignals::take_over(SignalHandler handler) noexcept {
  struct sigaction action = {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  // What pass_on() sends is handled when the handler has returned: within it SIGTRAP is blocked,
  // and a handler of the program's may run into a breakpoint instruction.
  for (const Taken& each : signals_) sigaddset(&action.sa_mask, stand_in_of(each.signal));
  for (Taken& each : signals_) COZ_REAL(sigaction)(each.signal, &action, &each.before);
}

void ProgramSignals::keep(int sample_signal, bool has_breakpoints) noexcept {
  const SignalBits samples = sample_signal == 0 ? 0 : bit_of(sample_signal);
  const SignalBits breakpoints = has_breakpoints ? bit_of(SIGTRAP) : 0;
  never_blocked_.store(breakpoints);
  kept_off_.store(samples & ~breakpoints);
  taken_.store(samples | breakpoints);
  if (has_breakpoints || sample_signal == SIGTRAP) block_all_in_handler(SIGTRAP);
  for (Taken& each : signals_) {
    if ((taken() & bit_of(each.signal)) != 0) {
      set_taken(each, &each.before, nullptr);
    } else {
      COZ_REAL(sigaction)(each.signal, &each.before, nullptr);
    }
  }
  // Handlers that the program had set before.
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action = {};
    if ((bit_of(number) & (taken() | stand_ins(taken()))) != 0) continue;
    if (COZ_REAL(sigaction)(number, nullptr, &action) == 0 && is_handler(action)) {
      set_action(number, &action, nullptr);
    }
  }
}

void ProgramSignals::in_forked_child() noexcept {
  for (Taken& each : signals_) {
    if ((taken() & ~never_blocked_.load() & bit_of(each.signal)) != 0) give_back(each);
  }
}

void ProgramSignals::give_back(Taken& taken) noexcept {
  struct sigaction action;
  set_taken(taken, nullptr, &action);
  COZ_REAL(sigaction)(taken.signal, &action, nullptr);
  action = {};
  COZ_REAL(sigaction)(stand_in_of(taken.signal), &action, nullptr);
  taken_.fetch_and(~bit_of(taken.signal));
  const SignalBits stand_in = bit_of(stand_in_of(taken.signal));
  if ((change_kernel_mask(SIG_BLOCK, 0) & stand_in) == 0) return;
  change_kernel_mask(SIG_BLOCK, bit_of(taken.signal));
  change_kernel_mask(SIG_UNBLOCK, stand_in);
}

void ProgramSignals::begin_thread() noexcept {
  const SignalBits blocked = change_kernel_mask(SIG_BLOCK, 0) & taken_.load();
  if (blocked == 0) return;
  change_kernel_mask(SIG_BLOCK, stand_ins(blocked));
  change_kernel_mask(SIG_UNBLOCK, blocked);
}

SignalBits ProgramSignals::taken() const noexcept {
  const SignalBits bits = taken_.load(std::memory_order_relaxed);
  return bits == 0 || Session::is_in_own_process() ? bits : bits & never_blocked_.load();
}

int ProgramSignals::set_action(int signal, const struct sigaction* action,
                               struct sigaction* before) noexcept {
  const SignalBits taken = this->taken();
  if (taken == 0) return COZ_REAL(sigaction)(signal, action, before);
  for (Taken& each : signals_) {
    if ((taken & bit_of(each.signal)) == 0) continue;
    if (signal == each.signal) return set_taken(each, action, before);
    if (signal != stand_in_of(each.signal)) continue;
    if (action != nullptr && is_handler(*action)) warn_of_stand_in(signal);
    if (before != nullptr) *before = {};
    return 0;
  }
  struct sigaction own = {};
  if (action != nullptr) own = action_for_kernel(*action);
  const int result = COZ_REAL(sigaction)(signal, action == nullptr ? nullptr : &own, before);
  if (result == 0 && before != nullptr) {
    assign_bits(before->sa_mask, for_program(bits_of(before->sa_mask)));
  }
  return result;
}

struct sigaction ProgramSignals::action_for_kernel(const struct sigaction& action) noexcept {
  struct sigaction own = action;
  SignalBits blocked = for_kernel(bits_of(action.sa_mask));
  if (is_handler(action) && (action.sa_flags & SA_ONSTACK) != 0) {
    blocked |= kept_off_.load();
    has_alternate_stacks_.store(true);
  }
  assign_bits(own.sa_mask, blocked);
  return own;
}

int ProgramSignals::set_taken(Taken& taken, const struct sigaction* action,
                              struct sigaction* before) noexcept {
  struct sigaction own = {};
  if (action != nullptr) own = action_for_kernel(*action);
  if (before != nullptr) {
    COZ_REAL(sigaction)(stand_in_of(taken.signal), nullptr, before);
    if (before->sa_sigaction == run_handler) {
      before->sa_sigaction = taken.handler.load();
      before->sa_flags = taken.flags.load();
    } else if (before->sa_sigaction == run_default) {
      before->sa_handler = SIG_DFL;
      before->sa_flags &= ~SA_SIGINFO;
    }
    assign_bits(before->sa_mask, for_program(bits_of(before->sa_mask)));
  }
  if (action == nullptr) return 0;
  if (own.sa_handler == SIG_DFL) {
    own.sa_sigaction = run_default;
    own.sa_flags |= SA_SIGINFO;
  } else if (own.sa_handler != SIG_IGN) {
    taken.flags.store(own.sa_flags);
    taken.handler.store(own.sa_sigaction);
    own.sa_sigaction = run_handler;
    // The kernel would set the stand-in's own default action.
    own.sa_flags = (own.sa_flags | SA_SIGINFO) & ~static_cast<int>(SA_RESETHAND);
  }
  return COZ_REAL(sigaction)(stand_in_of(taken.signal), &own, nullptr);
}

// A one-argument handler can be passed three, as the kernel does.
void ProgramSignals::run_handler(int, siginfo_t* info, void* context) noexcept {
  if (!restore(*info)) return;
  Taken& taken = program_signals.signals_[info->si_signo == SIGTRAP ? 0 : 1];
  const SignalHandler handler = taken.handler.load();
  if ((taken.flags.load() & static_cast<int>(SA_RESETHAND)) != 0) {
    const struct sigaction action = {};
    program_signals.set_taken(taken, &action, nullptr);
  }
  handler(info->si_signo, info, context);
}

void ProgramSignals::run_default(int, siginfo_t* info, void*) noexcept {
  if (restore(*info)) end_process_by(info->si_signo);
}

SignalBits ProgramSignals::for_kernel(SignalBits bits) const noexcept {
  const SignalBits any = taken_.load(std::memory_order_relaxed);
  // Most programs have nothing to do with our signals, and need not ask whose process it is.
  if ((bits & (any | stand_ins(any))) == 0) return bits;
  const SignalBits taken = this->taken();
  return (bits & ~(taken | stand_ins(taken))) | stand_ins(bits & taken);
}

SignalBits ProgramSignals::for_program(SignalBits bits) const noexcept {
  const SignalBits any = taken_.load(std::memory_order_relaxed);
  if ((bits & (any | stand_ins(any))) == 0) return bits;
  const SignalBits taken = this->taken();
  SignalBits result = bits & ~taken;
  for (const int each : {SIGTRAP, SIGSTKFLT}) {
    if ((bits & bit_of(stand_in_of(each))) != 0) result |= taken & bit_of(each);
  }
  return result;
}

sigset_t ProgramSignals::for_kernel(const sigset_t& set) const noexcept {
  sigset_t own = set;
  assign_bits(own, for_kernel(bits_of(set)));
  return own;
}

// What is blocked because the thread is in a handler on an alternate stack.
SignalBits ProgramSignals::kept_off_here() const noexcept {
  if (!has_alternate_stacks_.load(std::memory_order_relaxed)) return 0;
  const SignalBits blocked = change_kernel_mask(SIG_BLOCK, 0) & kept_off_.load();
  return blocked != 0 && runs_on_alternate_stack() ? blocked : 0;
}

sigset_t ProgramSignals::mask_for_kernel(const sigset_t& mask) const noexcept {
  sigset_t own = mask;
  assign_bits(own, for_kernel(bits_of(mask)) | kept_off_here());
  return own;
}

sigset_t ProgramSignals::mask_of_wait(const sigset_t& mask) const noexcept {
  sigset_t own = mask_for_kernel(mask);
  assign_bits(own, bits_of(own) | (taken() & kept_off_.load()));
  return own;
}

int ProgramSignals::change_mask(int how, const sigset_t* set, sigset_t* before,
                                MaskCall call) const noexcept {
  if (taken_.load(std::memory_order_relaxed) == 0) return call(how, set, before);
  sigset_t own = {};
  if (set != nullptr) own = how == SIG_SETMASK ? mask_for_kernel(*set) : for_kernel(*set);
  if (set != nullptr && how == SIG_UNBLOCK) {
    // A handler on an alternate stack may have been left by longjmp.
    const SignalBits left = bits_of(*set) & kept_off_.load() & ~kept_off_here();
    assign_bits(own, bits_of(own) | left);
  }
  const int result = call(how, set == nullptr ? nullptr : &own, before);
  if (result == 0 && before != nullptr) assign_bits(*before, for_program(bits_of(*before)));
  return result;
}

int ProgramSignals::to_send(int signal) const noexcept {
  for (const int each : {SIGTRAP, SIGSTKFLT}) {
    if (signal != each && signal != stand_in_of(each)) continue;
    if ((taken() & bit_of(each)) != 0) return signal == each ? stand_in_of(each) : 0;
  }
  return signal;
}

bool ProgramSignals::restore(siginfo_t& info) noexcept {
  for (const int each : {SIGTRAP, SIGSTKFLT}) {
    if (info.si_signo != stand_in_of(each)) continue;
    if (info.si_code < kSentOn / 2) {
      info.si_code -= kSentOn;
    } else if (info.si_pid != own_process()) {
      return false;
    }
    drop_repeated(info.si_signo);
    info.si_signo = each;
  }
  return true;
}

bool ProgramSignals::pass_on(const siginfo_t& info, void* context) noexcept {
  const int signal = info.si_signo;
  const int stand_in = stand_in_of(signal);
  const SignalBits mask = bits_of(static_cast<ucontext_t*>(context)->uc_sigmask);
  const bool is_blocked = (mask & bit_of(stand_in)) != 0;
  struct sigaction action;
  COZ_REAL(sigaction)(stand_in, nullptr, &action);
  const bool is_ignored = action.sa_handler == SIG_IGN;
  const bool is_default = action.sa_handler == SIG_DFL || action.sa_sigaction == run_default;
  // What the processor raises can be neither blocked nor ignored.
  const bool is_raised = info.si_code > 0;
  if (is_raised ? is_blocked || is_ignored || is_default : is_default && !is_blocked) {
    end_process_by(signal);
    return true;
  }
  if (is_ignored) return false;
  siginfo_t sent = info;
  sent.si_signo = stand_in;
  sent.si_code += kSentOn;
  if (!is_blocked || info.si_code == SI_TKILL) {
    raw_syscall(SYS_rt_tgsigqueueinfo, own_process(), own_thread(), stand_in, address(&sent));
  } else {
    raw_syscall(SYS_rt_sigqueueinfo, own_process(), stand_in, address(&sent));
  }
  return !is_blocked;
}

}  // namespace coz
