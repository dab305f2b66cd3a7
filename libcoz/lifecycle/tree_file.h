// What the processes of a tree share with programs that they execute (--tree -b): the block of all,
// in a file that `coz run` holds open (docs/decisions/tree.md).
//
// In the constructor, before any thread.
#ifndef LIBCOZ_LIFECYCLE_TREE_FILE_H
#define LIBCOZ_LIFECYCLE_TREE_FILE_H

#include "kernel/joint_file.h"
#include "lifecycle/config.h"
#include "thread/shared_state.h"

namespace coz {

// In the launched process. nullptr, after a message, if the file cannot be had. Where this process
// was another program before, whose tree is still there, that ends. nullptr, too, and no
// `config.tree_file`: the tree that begins now is one without programs that are executed.
SharedState* begin_tree(Config& config, JointFile& file);

// In a program that is executed. nullptr if the tree has ended: it comes too late.
SharedState* find_tree(const Config& config, JointFile& file);

// The process may have been one of the tree before it executed this program. What it held ends with
// the other, but what it still owes does not. Returns the delays that it has served.
Nanoseconds leave_former_program(SharedState& shared);

// Numbers of the tree's processes mean nothing in another namespace of processes.
bool is_elsewhere(const ProcessTree& tree) noexcept;

}  // namespace coz

#endif  // LIBCOZ_LIFECYCLE_TREE_FILE_H
