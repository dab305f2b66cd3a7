// How many processors the process may use at a time: those of its affinity mask, or as many as its
// cgroups' quota of processor time pays for, whichever are fewer.
//
// Not for signal handlers; allocates. errno may change.
#ifndef LIBCOZ_KERNEL_AVAILABLE_CORES_H
#define LIBCOZ_KERNEL_AVAILABLE_CORES_H

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace coz {

std::size_t available_cores();
// The same for all processes of the machine together, each of which may be bound to some of them.
std::size_t machine_cores();
// All processors of the machine, whoever may use them.
std::size_t online_cores();

// The least quota of a cgroup and those above it, in processors; nullopt: there is none. `cgroups`
// is what /proc/self/cgroup says, `root` where cgroups are mounted. Versions 1 and 2.
std::optional<double> processor_quota(std::string_view cgroups, const std::string& root);

}  // namespace coz

#endif  // LIBCOZ_KERNEL_AVAILABLE_CORES_H
