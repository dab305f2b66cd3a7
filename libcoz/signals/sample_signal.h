// The signals that are ours, and the program's own use of the same ones: the one that carries
// samples, and SIGTRAP where there are breakpoint instructions of ours (patch/breakpoints.h).
//
// The program may install a handler for it, ignore it, block it or wait for it; it sees what it
// set, and its handler gets every signal that is neither a sample nor a breakpoint of ours, while
// the profiler keeps the signal for itself in the kernel (signals/withheld_signals.h has what it
// blocks). A thread that runs into a breakpoint with SIGTRAP blocked would be killed, so that no
// mask given to the kernel may contain it.
#ifndef LIBCOZ_SIGNALS_SAMPLE_SIGNAL_H
#define LIBCOZ_SIGNALS_SAMPLE_SIGNAL_H

#include <signal.h>

#include <cerrno>
#include <optional>

#include "patch/breakpoints.h"
#include "signals/signal_bits.h"
#include "signals/withheld_signals.h"

namespace coz {

// Our handler for both signals that may be ours; before sampling starts.
void install_sample_handler() noexcept;

// The signal that carries samples from now on, or 0, and the breakpoints, or nullptr. Signals that
// are not used are given back to the program.
void set_sample_signal(int signal, const Breakpoints* breakpoints) noexcept;
int sample_signal() noexcept;
// In a child process, where nothing is sampled: what the program has set is what the kernel has.
void give_back_signals() noexcept;
// Whether there are breakpoint instructions among them: jumps take no signal.
bool has_breakpoints() noexcept;
bool is_ours(int signal) noexcept;

// Handlers on an alternate stack, which may have room for nothing else, run with the signal of
// samples blocked: for `action`, which the kernel is to get. Not where breakpoints need SIGTRAP.
void keep_samples_off(struct sigaction& action) noexcept;

// What the program has set for a signal of ours.
struct sigaction program_action(int signal) noexcept;
void set_program_action(int signal, const struct sigaction& action) noexcept;

// Signals of ours; and those that no thread may block in the kernel, whether it is profiled or not.
SignalBits our_signals() noexcept;
SignalBits never_blocked() noexcept;
// Those whose blocking is kept for the calling thread (signals/withheld_signals.h): none where it
// is not profiled, or is that of a child which has a mask of its own.
SignalBits kept_for_program() noexcept;
// A sample, as a wait for its signal may get: not the program's.
bool is_sample(const siginfo_t& info) noexcept;

// pthread_sigmask, or what is like it, as the program sees it: `call` is to change the kernel's.
using MaskCall = int (*)(int how, const sigset_t* set, sigset_t* before);
int change_mask(int how, const sigset_t* set, sigset_t* before, MaskCall call) noexcept;

// For calls that have a mask of their own: what the kernel is to get.
class MaskOfCall {
 public:
  explicit MaskOfCall(const sigset_t* mask) noexcept {
    if (mask == nullptr) return;
    own_ = *mask;
    const SignalBits never = never_blocked();
    // Most programs have nothing to do with signals of ours.
    const SignalBits either = (bits_of(*mask) | withheld::blocked()) & our_signals();
    if ((either | never) == 0) return;
    const SignalBits kept = kept_for_program();
    assign_bits(*own_, bits_of(*mask) & ~(kept | never));
    if (kept != 0) program_.emplace(bits_of(*mask) & kept, never);
  }
  const sigset_t* get() const noexcept { return own_ ? &*own_ : nullptr; }
  // `call()`, or its end by a signal that has come before.
  template <typename Call>
  int unless_ended(Call call) {
    if (program_) program_->before_call(bits_of(*own_));
    if (!program_ || !program_->has_come()) return call();
    errno = EINTR;
    return -1;
  }

 private:
  std::optional<sigset_t> own_;
  std::optional<withheld::Mask> program_;
};

}  // namespace coz

#endif  // LIBCOZ_SIGNALS_SAMPLE_SIGNAL_H
