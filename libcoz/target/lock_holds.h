// Where each lock was taken last, by its address: the address to which that call returns.
//
// Unknown: a lock that a newer one has replaced, one taken by an unrecorded call, and a shared one
// once its first holder has released it.
#ifndef LIBCOZ_TARGET_LOCK_HOLDS_H
#define LIBCOZ_TARGET_LOCK_HOLDS_H

#include "kernel/lossy_map.h"

namespace coz {

using LockHolds = LossyMap<12>;

}  // namespace coz

#endif  // LIBCOZ_TARGET_LOCK_HOLDS_H
