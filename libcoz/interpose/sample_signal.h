// The signals that are ours, and the program's own use of the same ones: the one that carries
// samples, and SIGTRAP where there are breakpoint instructions of ours (breakpoint/breakpoints.h).
//
// The program may install a handler for it, ignore it, block it or wait for it; it sees what it
// set, and its handler gets every signal that is neither a sample nor a breakpoint of ours, while
// the profiler keeps the signal for itself in the kernel. A thread that runs into a breakpoint with
// SIGTRAP blocked would be killed, so that no mask given to the kernel may contain it.
#ifndef LIBCOZ_INTERPOSE_SAMPLE_SIGNAL_H
#define LIBCOZ_INTERPOSE_SAMPLE_SIGNAL_H

#include <signal.h>

#include "breakpoint/breakpoints.h"

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

// Takes signals of ours out of `set`.
void take_out_ours(sigset_t& set) noexcept;

// A copy of `set` without signals of ours; nullptr stays nullptr.
class WithoutOurs {
 public:
  explicit WithoutOurs(const sigset_t* set) noexcept : given_(set != nullptr) {
    if (!given_) return;
    copy_ = *set;
    take_out_ours(copy_);
  }
  const sigset_t* get() const noexcept { return given_ ? &copy_ : nullptr; }

 private:
  bool given_;
  sigset_t copy_{};
};

}  // namespace coz

#endif  // LIBCOZ_INTERPOSE_SAMPLE_SIGNAL_H
