// Which ways of sampling the kernel lets this process have: tried as the runtime does, not guessed
// from settings, since seccomp, capabilities and security modules have a say as well.
#ifndef LINETABLE_MACHINE_SAMPLING_MODES_H
#define LINETABLE_MACHINE_SAMPLING_MODES_H

#include <string>

namespace coz::linetable {

// For each way what the kernel says against it; empty if nothing.
struct SamplingModes {
  std::string trap_error;
  std::string kernel_error;  // trap events that are raised in the kernel, too
  std::string signal_error;
};

// Opens and closes an event of each kind. Changes nothing else in this process.
SamplingModes try_sampling();

// One object, as docs/launch_contract.md has it.
std::string to_json(const SamplingModes& modes);

}  // namespace coz::linetable

#endif  // LINETABLE_MACHINE_SAMPLING_MODES_H
