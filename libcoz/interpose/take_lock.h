// What wrappers of locks share: to take one, a thread waits for its holder, and may be charged for
// that wait (--waits).
#ifndef LIBCOZ_INTERPOSE_TAKE_LOCK_H
#define LIBCOZ_INTERPOSE_TAKE_LOCK_H

#include "interpose/blocking.h"

namespace coz {

// Where waits are targets.
template <typename Lock, typename Attempt, typename IsBusy, typename Call, typename WakeSourceOf>
[[gnu::noinline]] int take_followed_lock(ThreadDelays& delays, const Lock* lock,
                                         LockHolder (*holder)(const void*) noexcept, LockUse use,
                                         Attempt attempt, IsBusy is_busy, Call call,
                                         WakeSourceOf wake_source_of) {
  const auto followed = [&] {
    const AwaitedLock awaited{key(lock), lock, holder};
    const FollowedWait wait(delays, WaitClass::kLock, &awaited);
    return call();
  };
  return rules::acquire_followed(delays, key(lock), attempt, is_busy, followed, wake_source_of,
                                 use);
}

// `call` is the one that waits for the lock. Because of the attempt before it, uncontended locking
// does not read the clock. `holder(lock)`: AwaitedLock's.
template <typename Lock, typename Attempt, typename IsBusy, typename Call, typename WakeSourceOf>
COZ_WRAPPER_PART int take_lock(const Lock* lock, LockHolder (*holder)(const void*) noexcept,
                               LockUse use, Attempt attempt, IsBusy is_busy, Call call,
                               WakeSourceOf wake_source_of) {
  auto delays = Session::current_delays();
  if (!delays) return call();
  if (delays->follows_waits()) {
    return take_followed_lock(*delays, lock, holder, use, attempt, is_busy, call, wake_source_of);
  }
  return rules::acquire(*delays, LazyKey(lock), attempt, is_busy, call, wake_source_of);
}

template <typename Lock, typename Attempt>
COZ_WRAPPER_PART int try_lock(const Lock* lock, LockUse use, Attempt attempt) {
  auto delays = Session::current_delays();
  if (!delays) return attempt();
  // Of mutexes, read-write locks and C11's mutexes, 0 is success.
  return rules::try_to_take(
      *delays, key(lock), attempt, [](int result) { return result != 0; }, use);
}

}  // namespace coz

#endif  // LIBCOZ_INTERPOSE_TAKE_LOCK_H
