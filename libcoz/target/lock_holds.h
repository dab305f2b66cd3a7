// Where each lock was taken last, by its address: the address to which that call returns.
//
// Nothing is known of a lock that a newer one has replaced, nor while the program has it by a call
// that is not recorded, as trylock, nor of one that several share once the first has released it.
#ifndef LIBCOZ_TARGET_LOCK_HOLDS_H
#define LIBCOZ_TARGET_LOCK_HOLDS_H

#include "kernel/lossy_map.h"

namespace coz {

using LockHolds = LossyMap<12>;

}  // namespace coz

#endif  // LIBCOZ_TARGET_LOCK_HOLDS_H
