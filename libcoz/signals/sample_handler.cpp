#include "signals/sample_handler.h"

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>

#include "common/perf_event.h"
#include "kernel/interrupted_call.h"
#include "kernel/machine_context.h"
#include "kernel/signal_bits.h"
#include "sampling/sample_source.h"
#include "signals/program_signals.h"
#include "thread/session.h"
#include "thread/visit.h"

#ifndef TRAP_PERF
#define TRAP_PERF 6
#endif

namespace coz {
namespace {

TakeSample take_sample = nullptr;
std::atomic<int> sample_signal{0};
std::atomic<const Breakpoints*> breakpoints_in_use{nullptr};

bool is_sample(const siginfo_t& info) noexcept {
  if (info.si_signo != sample_signal.load(std::memory_order_relaxed)) return false;
  if (info.si_signo == SIGTRAP) return info.si_code == TRAP_PERF;
  // From a perf descriptor (POLL_IN), which no program sends, from our timer thread, or from a
  // timer of the thread's own.
  return info.si_code > 0 || is_tick(info) || is_own_timer(info);
}

// What the kernel says of a trap event: si_perf_data and si_perf_flags, which libc's headers may
// lack, from byte 24 and 36 of struct siginfo.
SampleSignal describe(const siginfo_t& info) noexcept {
  if (info.si_signo != SIGTRAP) return {.is_late = false, .from_own_event = !is_tick(info)};
  std::uint64_t data = 0;
  std::uint32_t flags = 0;
  std::memcpy(&data, reinterpret_cast<const char*>(&info) + 24, sizeof data);
  std::memcpy(&flags, reinterpret_cast<const char*>(&info) + 36, sizeof flags);
  constexpr std::uint32_t kAsync = 1;  // TRAP_PERF_FLAG_ASYNC
  return {.is_late = (flags & kAsync) != 0, .from_own_event = data == kOwnEventMark};
}

// False if the thread has not run into a breakpoint instruction of ours. If it has, the program
// goes on as if there was none, whether it is still profiled or not.
bool step_over_breakpoint(const siginfo_t& info, void* context) noexcept {
  const Breakpoints* breakpoints = breakpoints_in_use.load(std::memory_order_acquire);
  // Only the kernel sends this code, for a trap of the processor's.
  if (breakpoints == nullptr || info.si_signo != SIGTRAP || info.si_code != SI_KERNEL) return false;
  const std::uintptr_t next = breakpoints->step_over(instruction_pointer(context),
                                                     [](Point& point) noexcept { visit(point); });
  if (next != 0) set_instruction_pointer(context, next);
  return next != 0;
}

// While this lives, a thread in the slot of a patched instruction appears at its place in the
// original code.
class SeenInProgram {
 public:
  explicit SeenInProgram(void* context) noexcept
      : context_(context), address_(instruction_pointer(context)), stack_(stack_pointer(context)) {
    const Breakpoints* breakpoints = breakpoints_in_use.load(std::memory_order_acquire);
    if (breakpoints == nullptr) return;
    const ProgramPosition position = breakpoints->position_of(address_);
    if (position.address == address_) return;
    is_moved_ = true;
    set_instruction_pointer(context, position.address);
    set_stack_pointer(context, stack_ + position.pushed);
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

// libc's own signals. The calls that they end are its own affair.
constexpr SignalBits kOfLibc = bit_of(kCancel) | bit_of(kCancel + 1);

// A sample that was due in a call comes as the call returns, perhaps together with a signal that
// has ended the call. The kernel sets this handler up first, and since that has SA_RESTART, the
// call would be made again. If the other signal's handler lacks SA_RESTART, the call has to end.
void end_call_for_others(void* context) noexcept {
  if (!is_call_to_be_made_again(context)) return;
  const SignalBits mask = bits_of(static_cast<const ucontext_t*>(context)->uc_sigmask);
  const SignalBits next = pending_signals() & ~mask & ~kOfLibc;
  if (next != 0 && handling_of(std::countr_zero(next) + 1) == Handling::kEndsCalls) {
    end_call(context);
  }
}

// Whether the signal may have ended a call that the program did not see it end. Of samples, only
// those of a timer reach a sleeping thread: perf's come while the thread runs. A perf sample just
// after a call that another signal ended looks the same, and is not counted.
bool handle_quietly(const siginfo_t& info, void* context) noexcept {
  if (!is_sample(info)) return !program_signals.pass_on(info, context);
  if (info.si_signo == SIGTRAP && breakpoints_in_use.load(std::memory_order_relaxed) == nullptr) {
    end_call_for_others(context);
  }
  if (ThreadState* thread = is_tick(info) ? Session::current_thread() : nullptr) {
    thread->tick_in_flight.store(false, std::memory_order_relaxed);
  }
  const SeenInProgram seen(context);
  take_sample(context, describe(info));
  return is_tick(info) || is_own_timer(info);
}

void handle(int, siginfo_t* info, void* context) noexcept {
  if (step_over_breakpoint(*info, context)) return;
  if (!handle_quietly(*info, context) || !is_interrupted_call(context)) return;
  if (ThreadState* thread = Session::current_thread()) {
    thread->interruptions.fetch_add(1, std::memory_order_relaxed);
  }
}

}  // namespace

void let_signals_come(const void* context) noexcept {
  if (breakpoints_in_use.load(std::memory_order_relaxed) != nullptr) return;
  const SignalBits mask = bits_of(static_cast<const ucontext_t*>(context)->uc_sigmask);
  const SignalBits waiting = bit_of(SIGTRAP) | program_signals.all_stand_ins() | bit_of(kCancel);
  change_kernel_mask(SIG_SETMASK, mask | waiting);
}

void install_sample_handler(TakeSample take) noexcept {
  take_sample = take;
  program_signals.take_over(handle);
}

void set_sample_signal(int signal, const Breakpoints* breakpoints) noexcept {
  sample_signal.store(signal, std::memory_order_release);
  breakpoints_in_use.store(breakpoints, std::memory_order_release);
  program_signals.keep(signal, breakpoints != nullptr);
}

}  // namespace coz
