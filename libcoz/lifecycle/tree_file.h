// What the processes of a tree share with programs that they execute (--tree -b): the block of all,
// in a file that `coz run` holds open (docs/decisions/tree.md).
//
// In the constructor, before any thread.
#ifndef LIBCOZ_LIFECYCLE_TREE_FILE_H
#define LIBCOZ_LIFECYCLE_TREE_FILE_H

#include "kernel/shared_file.h"
#include "lifecycle/config.h"
#include "thread/shared_state.h"

namespace coz {

// In the launched process. nullptr, after a message, if the file cannot be had. If this process
// began a tree before it executed this program, that tree ends, what `config` says of the file is
// cleared, and nullptr returned: the new tree has forked children only.
SharedState* begin_tree(Config& config, SharedFile& file);

// In a program that is executed. nullptr if the tree has ended: it comes too late.
SharedState* find_tree(const Config& config, SharedFile& file);

// Releases the slots that this process held before it executed this program. Returns the delays
// that it had served by then, so that what it owes is not forgotten.
Nanoseconds leave_former_program(SharedState& shared);

// Numbers of the tree's processes mean nothing in another namespace of processes.
bool is_elsewhere(const ProcessTree& tree) noexcept;

}  // namespace coz

#endif  // LIBCOZ_LIFECYCLE_TREE_FILE_H
