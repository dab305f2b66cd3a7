// Bounds on what reading a file can cost: debug information may be damaged or hostile, and the
// libraries that read it are not hardened. At a limit this process ends itself and says why.
//
// Lower limits that are already in force stay as they are.
#ifndef LINETABLE_MACHINE_PROCESS_LIMITS_H
#define LINETABLE_MACHINE_PROCESS_LIMITS_H

#include <string>

namespace coz::linetable {

// The status of a process that came to its limits; its answer then has the error "limit".
inline constexpr int kLimitReached = 6;

// Call it once, while there is one thread, before anything of `binary` is read. From then on the
// process ends with kLimitReached and an answer on standard output after five minutes of processor
// time, or ten minutes in all unless it `may_wait` for a server. Memory beyond 4 GiB and sixteen
// times the file's size is refused.
void limit_process(const std::string& binary, bool may_wait);

// The size of `debug_file`, the binary's separate one, counts from now on, too. Nothing changes
// without limit_process().
void allow_to_read(const std::string& debug_file);

// Ends the process with kLimitReached and the answer that memory was refused. Allocates nothing.
// libdw calls it (Dwarf_OOM). That type includes `noreturn`, which the attribute of GNU C adds to a
// function's type and [[noreturn]] does not.
extern "C" __attribute__((noreturn)) void end_out_of_memory();

}  // namespace coz::linetable

#endif  // LINETABLE_MACHINE_PROCESS_LIMITS_H
