#include "signals/sample_signal.h"

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>

#include "common/raw_syscall.h"
#include "kernel/real.h"
#include "lifecycle/runtime.h"
#include "patch/machine_context.h"
#include "sampling/sample_source.h"
#include "signals/action_cell.h"
#include "thread/session.h"
#include "thread/visit.h"

#ifndef TRAP_PERF
#define TRAP_PERF 6
#endif

namespace coz {
namespace {

std::atomic<int> signal_in_use{0};
std::atomic<const Breakpoints*> breakpoints_in_use{nullptr};
// What the program has set, for SIGTRAP and for the other one.
ActionCell trap_action;
ActionCell own_action;

int trap_signal() noexcept { return sampling_signal(Sampling::kPerfTrap); }
int own_signal() noexcept { return sampling_signal(Sampling::kPerfSignal); }

ActionCell& action_of(int signal) noexcept {
  return signal == trap_signal() ? trap_action : own_action;
}

// The period ended while the thread blocked the signal, as it does in this handler: it has gone on
// since. (si_perf_flags, which libc's headers may lack: struct siginfo's last 32 bits of 40.)
bool is_late(int signal, const siginfo_t* info) noexcept {
  if (signal != SIGTRAP) return false;
  std::uint32_t flags = 0;
  std::memcpy(&flags, reinterpret_cast<const char*>(info) + 36, sizeof flags);
  return (flags & 1U) != 0;  // TRAP_PERF_FLAG_ASYNC
}

// A breakpoint of ours has been run into: whatever becomes of the profiling, the program goes on as
// if it had not been there. False if it was none of ours.
bool step_over_breakpoint(int signal, const siginfo_t* info, void* context) noexcept {
  const Breakpoints* breakpoints = breakpoints_in_use.load(std::memory_order_acquire);
  // The processor's trap, which comes from the kernel alone.
  if (breakpoints == nullptr || signal != SIGTRAP || info->si_code != SI_KERNEL) return false;
  Registers registers = registers_of(context);
  if (!breakpoints->step_over(registers, [](Point& point) noexcept { visit(point); })) return false;
  set_registers(context, registers);
  return true;
}

// While it lives, an interrupted thread seems to be where it is in the program, not in the copy of
// an instruction that a breakpoint has taken the place of, or in a trampoline.
class SeenInProgram {
 public:
  explicit SeenInProgram(void* context) noexcept
      : context_(context), address_(instruction_pointer(context)), stack_(stack_pointer(context)) {
    const Breakpoints* breakpoints = breakpoints_in_use.load(std::memory_order_acquire);
    if (breakpoints == nullptr) return;
    const SeenAt seen = breakpoints->in_program(address_);
    if (seen.rip == address_) return;
    is_moved_ = true;
    set_instruction_pointer(context, seen.rip);
    set_stack_pointer(context, stack_ + seen.pushed);
  }
  ~SeenInProgram() {
    if (!is_moved_) return;
    set_instruction_pointer(context_, address_);
    set_stack_pointer(context_, stack_);
  }
  SeenInProgram(const SeenInProgram&) = delete;
  SeenInProgram& operator=(const SeenInProgram&) = delete;

 private:
  void* context_;
  std::uintptr_t address_;
  std::uintptr_t stack_;
  bool is_moved_ = false;
};

void call_handler(const struct sigaction& action, int signal, siginfo_t* info,
                  void* context) noexcept {
  sigset_t before;
  sigset_t blocked = action.sa_mask;
  assign_bits(blocked, bits_of(blocked) & ~our_signals());
  COZ_REAL(pthread_sigmask)(SIG_BLOCK, &blocked, &before);
  // The handler may run into a breakpoint, and SIGTRAP is blocked here if that is what was caught.
  SignalBits open = never_blocked();
  if ((action.sa_flags & SA_NODEFER) != 0) open |= bit_of(signal);
  if (open != 0) change_kernel_mask(SIG_UNBLOCK, open);
  if ((action.sa_flags & SA_SIGINFO) != 0) {
    action.sa_sigaction(signal, info, context);
  } else {
    action.sa_handler(signal);
  }
  COZ_REAL(pthread_sigmask)(SIG_SETMASK, &before, nullptr);
}

// The program's own handler, as the kernel would have called it, but for SA_ONSTACK. False if it
// has none.
bool forward(int signal, siginfo_t* info, void* context) noexcept {
  struct sigaction action = action_of(signal).get();
  // What the processor raises can be neither ignored nor blocked.
  if (info->si_code > 0) {
    const bool is_blocked = (kept_for_program() & withheld::blocked() & bit_of(signal)) != 0;
    if (is_blocked || action.sa_handler == SIG_IGN) action.sa_handler = SIG_DFL;
  }
  if (action.sa_handler == SIG_IGN) return false;
  if (action.sa_handler == SIG_DFL) {
    COZ_REAL(sigaction)(signal, &action, nullptr);
    raw_syscall(SYS_tgkill, raw_syscall(SYS_getpid), raw_syscall(SYS_gettid), signal);
    return true;  // it is blocked here, and takes effect on return
  }
  if ((action.sa_flags & SA_RESETHAND) != 0) {
    struct sigaction reset = action;
    reset.sa_handler = SIG_DFL;
    action_of(signal).set(reset);
  }
  call_handler(action, signal, info, context);
  // Our own action has SA_RESTART. (What the processor raises comes between instructions.)
  if (info->si_code <= 0 && (action.sa_flags & SA_RESTART) == 0) end_restarted_call(context);
  return true;
}

void take_sample(int signal, const siginfo_t* info, void* context) noexcept {
  const SeenInProgram seen(context);
  Runtime::take_sample(context, is_late(signal, info));
}

// Nothing is sampled any more: what the thread blocks, the kernel may do, and has the signal again.
bool leave_to_kernel(int signal, const siginfo_t* info, void* context) noexcept {
  const SignalBits blocked = withheld::blocked() & ~never_blocked();
  if (Runtime::active() != nullptr || (blocked & bit_of(signal)) == 0) return false;
  withheld::end(never_blocked());
  sigset_t& mask = static_cast<ucontext_t*>(context)->uc_sigmask;
  assign_bits(mask, bits_of(mask) | blocked);
  const long process = raw_syscall(SYS_getpid);
  const auto sent = reinterpret_cast<long>(info);
  if (info->si_code == SI_TKILL) {
    raw_syscall(SYS_rt_tgsigqueueinfo, process, raw_syscall(SYS_gettid), signal, sent);
  } else if (raw_syscall(SYS_rt_sigqueueinfo, process, signal, sent) < 0) {
    // What says `kill` of itself the kernel takes from nobody else.
    raw_syscall(SYS_kill, process, signal);
  }
  return true;
}

// True if the program's handler has run. What the processor raises is never withheld.
bool take_signal_of_program(int signal, siginfo_t* info, void* context) noexcept {
  if (withheld::is_knock(*info)) return false;
  const bool is_sent = info->si_code <= 0 && Session::is_in_own_process();
  if (is_sent && (leave_to_kernel(signal, info, context) || withheld::withhold(*info))) {
    return false;
  }
  return forward(signal, info, context);
}

// Runs on the thread's own stack, not the alternate one, which may be small.
void handle(int signal, siginfo_t* info, void* context) noexcept {
  if (step_over_breakpoint(signal, info, context)) return;
  bool is_programs = false;
  // Samples by perf come while the thread runs, and end no call, unless they have come just before
  // it: one on the first instruction after a call that a handler of the program's has ended only
  // looks so.
  bool may_end_calls = true;
  if (is_sample(*info)) {
    may_end_calls = is_tick(*info) || withheld::call_has_begun();
    take_sample(signal, info, context);
  } else {
    is_programs = take_signal_of_program(signal, info, context);
  }
  siginfo_t unblocked;
  while (withheld::is_any_pending() && Session::is_in_own_process()) {
    const int each = withheld::take_unblocked(signal, unblocked);
    if (each == 0) break;
    if (forward(each, &unblocked, context)) is_programs = true;
  }
  if (is_programs || !may_end_calls || !is_interrupted_call(context)) return;
  if (ThreadState* thread = Session::current_thread()) {
    thread->interruptions.fetch_add(1, std::memory_order_relaxed);
  }
}

void install(int signal, ActionCell& program) noexcept {
  struct sigaction before = {};
  struct sigaction action = {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigemptyset(&action.sa_mask);
  COZ_REAL(sigaction)(signal, &action, &before);
  program.set(before);
}

// The kernel has it as the program has set it.
void give_back(int signal) noexcept {
  const struct sigaction action = action_of(signal).get();
  COZ_REAL(sigaction)(signal, &action, nullptr);
}

}  // namespace

void install_sample_handler() noexcept {
  install(trap_signal(), trap_action);
  install(own_signal(), own_action);
}

namespace {

// Handlers that were set before there were samples.
void keep_samples_off_all() noexcept {
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action = {};
    if (is_ours(number) || COZ_REAL(sigaction)(number, nullptr, &action) != 0) continue;
    if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN) continue;
    if ((action.sa_flags & SA_ONSTACK) != 0) sigaction(number, &action, nullptr);
  }
}

}  // namespace

void set_sample_signal(int signal, const Breakpoints* breakpoints) noexcept {
  signal_in_use.store(signal, std::memory_order_release);
  breakpoints_in_use.store(breakpoints, std::memory_order_release);
  for (const int each : {trap_signal(), own_signal()}) {
    if (!is_ours(each)) give_back(each);
  }
  keep_samples_off_all();
}

void give_back_signals() noexcept {
  signal_in_use.store(0, std::memory_order_release);
  for (const int each : {trap_signal(), own_signal()}) {
    if (!is_ours(each)) give_back(each);
  }
}

void keep_samples_off(struct sigaction& action) noexcept {
  const int signal = sample_signal();
  if (signal == 0 || (signal == SIGTRAP && has_breakpoints())) return;
  sigaddset(&action.sa_mask, signal);
}

int sample_signal() noexcept { return signal_in_use.load(std::memory_order_acquire); }

bool has_breakpoints() noexcept {
  const Breakpoints* breakpoints = breakpoints_in_use.load(std::memory_order_acquire);
  return breakpoints != nullptr && breakpoints->has_instructions();
}

bool is_ours(int signal) noexcept {
  return signal != 0 && (signal == sample_signal() || (signal == SIGTRAP && has_breakpoints()));
}

struct sigaction program_action(int signal) noexcept { return action_of(signal).get(); }

void set_program_action(int signal, const struct sigaction& action) noexcept {
  // A child made by vfork, which sets what its program is to begin with, has our memory.
  if (!Session::is_in_own_process()) return;
  action_of(signal).set(action);
  if (action.sa_handler == SIG_IGN) withheld::forget(bit_of(signal));
}

SignalBits our_signals() noexcept {
  SignalBits bits = 0;
  for (const int each : {trap_signal(), own_signal()}) {
    if (is_ours(each)) bits |= bit_of(each);
  }
  return bits;
}

SignalBits never_blocked() noexcept { return has_breakpoints() ? bit_of(SIGTRAP) : 0; }

SignalBits kept_for_program() noexcept {
  return withheld::takes_part() && Session::is_in_own_process() ? our_signals() : 0;
}

bool is_sample(const siginfo_t& info) noexcept {
  if (info.si_signo != signal_in_use.load(std::memory_order_relaxed)) return false;
  if (info.si_signo == SIGTRAP) return info.si_code == TRAP_PERF;
  // From a perf descriptor (POLL_IN), which no program sends, or from our timer thread.
  return info.si_code > 0 || is_tick(info);
}

}  // namespace coz
