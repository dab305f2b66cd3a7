// The ranks of a job that are profiled as one program (--joint; docs/decisions/joint.md), or the
// programs of a tree (--tree -b; docs/decisions/tree.md): this process takes part in what they
// share.
//
// In the constructor, before any thread; allocates. Without either nothing happens.
#ifndef LIBCOZ_LIFECYCLE_JOINT_RANKS_H
#define LIBCOZ_LIFECYCLE_JOINT_RANKS_H

#include <string>
#include <utility>

#include "kernel/shared_file.h"
#include "lifecycle/config.h"
#include "thread/shared_state.h"

namespace coz {

class JointRanks {
 public:
  // `file`: of a tree, whose first part is mapped.
  explicit JointRanks(SharedFile file) noexcept : file_(std::move(file)) {}

  // Until they agree().
  bool is_on() const noexcept { return file_.is_open(); }
  // Where further parts are shared.
  SharedFile& file() noexcept { return file_; }

  // From here on what ranks share is where this process's own was. False, after a message, if that
  // cannot be.
  bool join(const Config& config, JointState& own);

  // Targets are numbers, and delays belong to a sampling period: they mean the same in all ranks
  // only if program and options are the same. The leading rank says what they are. False, after a
  // message, if they differ, or it does not come.
  bool agree(const Config& config, const std::string& program, JointState& shared);

 private:
  SharedFile file_;
};

}  // namespace coz

#endif  // LIBCOZ_LIFECYCLE_JOINT_RANKS_H
