// Waits for locks as the profile names them.
#ifndef LIBCOZ_EXPERIMENT_LOCK_COUNTS_H
#define LIBCOZ_EXPERIMENT_LOCK_COUNTS_H

#include <vector>

#include "profile_log/records.h"
#include "symbols/modules.h"
#include "target/lock_waits.h"
#include "target/targets.h"

namespace coz {

// By target, lock and holder's line, those with most time first, 512 at most. One thread;
// allocates.
std::vector<LockCount> count_locks(const LockWaits& waits, const Targets& targets,
                                   const Modules& modules);

}  // namespace coz

#endif  // LIBCOZ_EXPERIMENT_LOCK_COUNTS_H
