#include "interpose/sample_signal.h"

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>

#include "breakpoint/machine_context.h"
#include "interpose/real.h"
#include "interpose/visit.h"
#include "os/raw_syscall.h"
#include "runtime.h"
#include "sample/sample_source.h"

#ifndef TRAP_PERF
#define TRAP_PERF 6
#endif

namespace coz {
namespace {

std::atomic<int> signal_in_use{0};
std::atomic<const Breakpoints*> breakpoints_in_use{nullptr};
// What the program has set, for SIGTRAP and for the other one.
struct sigaction trap_action;
struct sigaction own_action;

int trap_signal() noexcept { return sampling_signal(Sampling::kPerfTrap); }
int own_signal() noexcept { return sampling_signal(Sampling::kPerfSignal); }

struct sigaction& action_of(int signal) noexcept {
  return signal == trap_signal() ? trap_action : own_action;
}

bool is_sample(int signal, const siginfo_t* info) noexcept {
  if (signal != signal_in_use.load(std::memory_order_relaxed)) return false;
  if (signal == SIGTRAP) return info->si_code == TRAP_PERF;
  // From a perf descriptor (POLL_IN), which no program sends, or from our timer thread.
  return info->si_code > 0 || is_tick(*info);
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

// The program's own handler, as the kernel would have called it.
void forward(int signal, siginfo_t* info, void* context) noexcept {
  struct sigaction action = action_of(signal);
  // What the processor raises cannot be ignored.
  if (action.sa_handler == SIG_IGN && info->si_code > 0) action.sa_handler = SIG_DFL;
  if (action.sa_handler == SIG_IGN) return;
  if ((action.sa_flags & SA_RESETHAND) != 0) action_of(signal).sa_handler = SIG_DFL;
  if (action.sa_handler == SIG_DFL) {
    COZ_REAL(sigaction)(signal, &action, nullptr);
    raw_syscall(SYS_tgkill, raw_syscall(SYS_getpid), raw_syscall(SYS_gettid), signal);
    return;  // it is blocked here, and takes effect on return
  }
  sigset_t before;
  COZ_REAL(pthread_sigmask)(SIG_BLOCK, WithoutOurs(&action.sa_mask).get(), &before);
  if (has_breakpoints()) {
    // The handler may run into one, and SIGTRAP is blocked here if that is what was caught.
    sigset_t trap;
    sigemptyset(&trap);
    sigaddset(&trap, SIGTRAP);
    COZ_REAL(pthread_sigmask)(SIG_UNBLOCK, &trap, nullptr);
  }
  if ((action.sa_flags & SA_SIGINFO) != 0) {
    action.sa_sigaction(signal, info, context);
  } else {
    action.sa_handler(signal);
  }
  COZ_REAL(pthread_sigmask)(SIG_SETMASK, &before, nullptr);
}

// Runs on the thread's own stack, not the alternate one, which may be small.
void handle(int signal, siginfo_t* info, void* context) noexcept {
  if (step_over_breakpoint(signal, info, context)) return;
  if (!is_sample(signal, info)) {
    forward(signal, info, context);
    return;
  }
  Runtime* runtime = Runtime::active();
  if (runtime == nullptr) {
    Runtime::end_samples_of_thread();
    return;
  }
  ThreadState* thread = Runtime::current_thread();
  if (thread == nullptr) return;
  thread->in_handler.store(true, std::memory_order_relaxed);
  thread->interruptions.fetch_add(1, std::memory_order_relaxed);
  const SeenInProgram seen(context);
  ThreadDelays delays(*thread, runtime->delay_environment());
  runtime->sampler().sample(context, is_late(signal, info), *thread, delays);
  thread->in_handler.store(false, std::memory_order_relaxed);
}

void install(int signal, struct sigaction& before) noexcept {
  struct sigaction action = {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigemptyset(&action.sa_mask);
  COZ_REAL(sigaction)(signal, &action, &before);
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
  sigset_t ours;
  sigemptyset(&ours);
  for (const int each : {trap_signal(), own_signal()}) {
    if (is_ours(each)) {
      sigaddset(&ours, each);
    } else {
      COZ_REAL(sigaction)(each, &action_of(each), nullptr);
    }
  }
  // The program may have been started with them blocked.
  COZ_REAL(pthread_sigmask)(SIG_UNBLOCK, &ours, nullptr);
  keep_samples_off_all();
}

void give_back_signals() noexcept {
  signal_in_use.store(0, std::memory_order_release);
  for (const int each : {trap_signal(), own_signal()}) {
    if (!is_ours(each)) COZ_REAL(sigaction)(each, &action_of(each), nullptr);
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

struct sigaction program_action(int signal) noexcept { return action_of(signal); }

void set_program_action(int signal, const struct sigaction& action) noexcept {
  action_of(signal) = action;
}

void take_out_ours(sigset_t& set) noexcept {
  for (const int each : {trap_signal(), own_signal()}) {
    if (is_ours(each)) sigdelset(&set, each);
  }
}

}  // namespace coz
