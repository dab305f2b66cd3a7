// The program's own use of the signals that the profiler takes for itself: the one that carries
// samples (SIGTRAP or SIGSTKFLT), and SIGTRAP where the code has breakpoint instructions of ours.
//
// The kernel must not block such a signal. A thread that blocks it takes no samples, and a thread
// that runs into a breakpoint instruction with SIGTRAP blocked is killed. So the kernel knows the
// program's use of the signal under another number, its stand-in: a real-time signal that hardly
// any program uses. Wrappers put the stand-in into masks, actions, waits and sends, and take it out
// of what they return. A signal that arrives under its own number, from the processor or another
// process, is sent on under the stand-in by the sample handler. The kernel does the rest: it knows
// what is blocked, pending, inherited or ignored, which thread gets a signal, and which calls end.
//
// All functions are signal-safe and for any thread, unless they say otherwise; errno is that of the
// system call that they stand for. In a child made by vfork, _Fork or clone the program's calls
// reach the real signals, except for SIGTRAP where there are breakpoint instructions.
#ifndef LIBCOZ_SIGNALS_PROGRAM_SIGNALS_H
#define LIBCOZ_SIGNALS_PROGRAM_SIGNALS_H

#include <signal.h>

#include <array>
#include <atomic>

#include "kernel/signal_bits.h"

namespace coz {

using SignalHandler = void (*)(int signal, siginfo_t* info, void* context);

// In the middle of the real-time signals: programs count theirs from either end.
constexpr int stand_in_of(int signal) noexcept { return signal == SIGTRAP ? 56 : 55; }

class ProgramSignals {
 public:
  // `handler` gets SIGTRAP and SIGSTKFLT from now on, while the profiler tries how it can sample.
  // In the first thread, before main.
  void take_over(SignalHandler handler) noexcept;
  // Only these are needed, and get a stand-in: the one that carries samples (0: none), and SIGTRAP
  // for breakpoint instructions. The program gets others back. Once, after take_over().
  void keep(int sample_signal, bool has_breakpoints) noexcept;
  // In the child of fork(), which is not sampled, once it is the session's own process: all but
  // SIGTRAP for breakpoint instructions are the program's again.
  void in_forked_child() noexcept;
  // In a thread that begins: if it has one of our signals blocked, unblocks it and blocks its
  // stand-in.
  void begin_thread() noexcept;

  // What the handler keeps blocked besides its own signal, for pass_on().
  static SignalBits all_stand_ins() noexcept {
    return bit_of(stand_in_of(SIGTRAP)) | bit_of(stand_in_of(SIGSTKFLT));
  }

  // Those that have a stand-in for the caller.
  SignalBits taken() const noexcept;

  // What sigaction() does, for any signal.
  int set_action(int signal, const struct sigaction* action, struct sigaction* before) noexcept;

  // What the kernel gets for a set of the program's, and the reverse. for_program() keeps the
  // stand-in beside its signal, so that a full mask reads back full.
  SignalBits for_kernel(SignalBits bits) const noexcept;
  SignalBits for_program(SignalBits bits) const noexcept;
  sigset_t for_kernel(const sigset_t& set) const noexcept;
  // The same for a set that replaces the thread's mask. Handlers on an alternate stack may lack
  // room for ours, so samples stay blocked there whatever mask they set.
  sigset_t mask_for_kernel(const sigset_t& mask) const noexcept;
  // The same for a call that waits with a mask of its own. No sample ends such a call, so that a
  // wrapper need not tell it from a signal of the program's, which it cannot if both arrive at
  // once, and our handler never runs with that mask replaced. Handlers that run within the call
  // take no samples.
  sigset_t mask_of_wait(const sigset_t& mask) const noexcept;
  // What pthread_sigmask() and its like do; `call` is the real one.
  using MaskCall = int (*)(int how, const sigset_t* set, sigset_t* before);
  int change_mask(int how, const sigset_t* set, sigset_t* before, MaskCall call) const noexcept;

  // Which signal to send to a thread of this process, or the process itself, instead of `signal`:
  // 0, none, for a stand-in.
  int to_send(int signal) const noexcept;
  // For a signal that a wait has returned, or a handler gets: turns a stand-in into what it stands
  // for. False if it is a stand-in that does not come from here.
  static bool restore(siginfo_t& info) noexcept;
  // In the handler, for a signal of the program's under its own number: sends it on. False if no
  // handler of the program's will interrupt this thread because of it.
  bool pass_on(const siginfo_t& info, void* context) noexcept;

 private:
  struct Taken {
    const int signal;
    // What the program has set, if it is a handler. The rest of it is in the kernel, as the action
    // of the stand-in, which a child made by vfork changes for itself alone.
    std::atomic<SignalHandler> handler{nullptr};
    std::atomic<int> flags{0};
    struct sigaction before{};  // take_over()
  };

  static void run_handler(int number, siginfo_t* info, void* context) noexcept;
  static void run_default(int number, siginfo_t* info, void* context) noexcept;
  struct sigaction action_for_kernel(const struct sigaction& action) noexcept;
  int set_taken(Taken& taken, const struct sigaction* action, struct sigaction* before) noexcept;
  void give_back(Taken& taken) noexcept;
  SignalBits kept_off_here() const noexcept;

  std::array<Taken, 2> signals_{{{SIGTRAP}, {SIGSTKFLT}}};
  std::atomic<SignalBits> taken_{0};
  // Of these: what no process may block, and what handlers on an alternate stack block.
  std::atomic<SignalBits> never_blocked_{0};
  std::atomic<SignalBits> kept_off_{0};
  std::atomic<bool> has_alternate_stacks_{false};
};

extern constinit ProgramSignals program_signals;

}  // namespace coz

#endif  // LIBCOZ_SIGNALS_PROGRAM_SIGNALS_H
