// Everything that the program's threads share through the profiler: one block without pointers.
//
// Each part says who may use it. With --tree, forked children share the block. Otherwise a child,
// however it was forked, finds a block of its own in its place, all zeros (kernel/own_page.h), so
// that its visits do not count as the parent's.
#ifndef LIBCOZ_THREAD_SHARED_STATE_H
#define LIBCOZ_THREAD_SHARED_STATE_H

#include <atomic>
#include <cstdint>

#include "delay/delay_ledger.h"
#include "delay/outside_queues.h"
#include "delay/pending_charges.h"
#include "delay/wait_charges.h"
#include "delay/waker_table.h"
#include "delay/young_charges.h"
#include "kernel/lossy_map.h"
#include "kernel/shared_file.h"
#include "load/amplification.h"
#include "progress/operations.h"
#include "progress/point_registry.h"
#include "target/lock_holds.h"
#include "target/lock_waits.h"
#include "target/region_registry.h"
#include "target/selection.h"
#include "target/wait_sites.h"
#include "thread/loose_ends.h"
#include "thread/process_tree.h"
#include "thread/thread_lives.h"
#include "thread/thread_registry.h"

namespace coz {

// Unix sockets at which the program listens, or has listened. Their names may change afterwards.
struct UnixListeners {
  std::atomic<bool> any{false};
  LossyMap<8> sockets;  // of a socket's inode: its place (interpose/socket_address.h)
  LossyMap<8> places;   // of a place: 1
};

// What the ranks of a job share, too (--joint), on pages of its own. Where the leading rank has
// been killed, its `coz run` clears the selection: it writes zeros over the epoch, which is at byte
// 16 (cozcli/launch/joint.py).
struct alignas(SharedFile::kPage) JointState {
  // A number that says what program and which options the leading rank has; 0: it has not begun.
  std::atomic<std::uint64_t> agreed{0};
  GlobalDelay global_delay;
  SelectionCell selection;
};

struct SharedState : JointState {
  // Not in what is left of the last page above.
  alignas(SharedFile::kPage) ProcessTree tree;
  Amplification amplification;
  WakerTable wakers;
  PendingCharges pending;
  YoungCharges young;
  WaitCharges waits;
  OutsideQueues outside;
  PointRegistry points;
  Operations operations;
  RegionRegistry regions;
  WaitSites wait_sites;
  LockHolds lock_holds;
  LockWaits lock_waits;
  // With --tree, of a socket's inode: that of the other end, which a write to the former wakes.
  LossyMap<10> other_ends;
  // Of the inode of a pipe or a socket: the key of the epoll file that watches it for input.
  LossyMap<10> epoll_files;
  UnixListeners unix_listeners;
  LooseEnds loose_ends;
  ThreadRegistry threads;
  ThreadLives lives;
};

}  // namespace coz

#endif  // LIBCOZ_THREAD_SHARED_STATE_H
