// What the machine's processors did: work, or wait for a hypervisor ("steal time"). From the first
// line of the kernel's /proc/stat, which counts in ticks, usually of 10 ms.
//
// Not for signal handlers. Nothing allocates; errno is not touched.
#ifndef LIBCOZ_KERNEL_MACHINE_TIME_H
#define LIBCOZ_KERNEL_MACHINE_TIME_H

#include <optional>
#include <string_view>

#include "common/clock.h"

namespace coz {

// Since the machine started, summed over its processors.
struct MachineTime {
  Nanoseconds busy = 0;    // for anybody
  Nanoseconds stolen = 0;  // there was work, but the hypervisor ran others
};

// "cpu USER NICE SYSTEM IDLE IOWAIT IRQ SOFTIRQ STEAL ..."; nullopt for anything else, also for
// kernels so old that they have no STEAL.
std::optional<MachineTime> parse_machine_time(std::string_view text,
                                              long ticks_per_second) noexcept;

// nullopt if there is no such file, and outside of virtual machines: nothing can be stolen there,
// and on a large machine the kernel takes a millisecond to write the file.
std::optional<MachineTime> read_machine_time() noexcept;

// From `earlier` until now; nullopt where either is unknown.
std::optional<MachineTime> machine_time_since(const std::optional<MachineTime>& earlier) noexcept;

}  // namespace coz

#endif  // LIBCOZ_KERNEL_MACHINE_TIME_H
