// What the machine's processors did: worked, or were withheld by a hypervisor ("steal time"). The
// first line of the kernel's /proc/stat, in ticks of 10 ms as a rule.
//
// Not for signal handlers. Nothing allocates; errno is not touched.
#ifndef LIBCOZ_KERNEL_MACHINE_TIME_H
#define LIBCOZ_KERNEL_MACHINE_TIME_H

#include <optional>

#include "common/clock.h"

namespace coz {

// Since the machine started, summed over its processors.
struct MachineTime {
  Nanoseconds busy = 0;    // for anybody
  Nanoseconds stolen = 0;  // wanted, but given to others by the hypervisor
};

// "cpu USER NICE SYSTEM IDLE IOWAIT IRQ SOFTIRQ STEAL ..."; nullopt for anything else, and before
// STEAL was there.
std::optional<MachineTime> parse_machine_time(const char* text, long ticks_per_second) noexcept;

// nullopt where there is no such file, and outside of virtual machines: nothing can be stolen
// there, and on a large machine the file takes the kernel a millisecond to write.
std::optional<MachineTime> read_machine_time() noexcept;

// From `earlier` until now; nullopt where either is unknown.
std::optional<MachineTime> machine_time_since(const std::optional<MachineTime>& earlier) noexcept;

}  // namespace coz

#endif  // LIBCOZ_KERNEL_MACHINE_TIME_H
