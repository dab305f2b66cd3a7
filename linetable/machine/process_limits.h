// Bounds on what a file can cost: debug information may be damaged, or made by somebody who means
// harm, and the libraries that read it are only as careful as they are. This process then ends by
// itself, and says why.
//
// Limits that are in force already and lower stay as they are.
#ifndef LINETABLE_MACHINE_PROCESS_LIMITS_H
#define LINETABLE_MACHINE_PROCESS_LIMITS_H

#include <string>

namespace coz::linetable {

// The status of a process that came to its limits; its answer then has the error "limit".
inline constexpr int kLimitReached = 6;

// Before anything of `binary` is read. Once, while there is one thread. From then on the process
// ends with kLimitReached and an answer on standard output after five minutes of processor time, or
// ten minutes in all unless `may_wait` (for a server). Memory that goes beyond 4 GiB and sixteen
// times the file's size is refused.
void limit_process(const std::string& binary, bool may_wait);

// Ends the process with kLimitReached and the answer that memory was refused. Allocates nothing.
// GNU C's attribute is part of the type, as libdw wants it.
extern "C" __attribute__((noreturn)) void end_out_of_memory();

}  // namespace coz::linetable

#endif  // LINETABLE_MACHINE_PROCESS_LIMITS_H
