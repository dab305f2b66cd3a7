// The signal that carries samples, and the program's own use of the same signal.
//
// The program may install a handler for it, ignore it, block it or wait for it; it sees what it
// set, and its handler gets every signal that is not a sample, while the profiler keeps the
// signal for itself in the kernel.
#ifndef LIBCOZ_INTERPOSE_SAMPLE_SIGNAL_H
#define LIBCOZ_INTERPOSE_SAMPLE_SIGNAL_H

#include <signal.h>

namespace coz {

// Our handler for both signals that may carry samples; before sampling starts.
void install_sample_handler() noexcept;

// The signal in use from now on, or 0. The other one is given back to the program.
void set_sample_signal(int signal) noexcept;
int sample_signal() noexcept;

// What the program has set for the sample signal.
struct sigaction program_action() noexcept;
void set_program_action(const struct sigaction& action) noexcept;

// A copy of `set` without the sample signal; nullptr stays nullptr.
class WithoutSamples {
 public:
  explicit WithoutSamples(const sigset_t* set) noexcept : given_(set != nullptr) {
    if (!given_) return;
    copy_ = *set;
    if (const int signal = sample_signal()) sigdelset(&copy_, signal);
  }
  const sigset_t* get() const noexcept { return given_ ? &copy_ : nullptr; }

 private:
  bool given_;
  sigset_t copy_{};
};

}  // namespace coz

#endif  // LIBCOZ_INTERPOSE_SAMPLE_SIGNAL_H
