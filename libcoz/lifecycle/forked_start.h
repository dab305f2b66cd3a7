// Profiling that starts in a forked child of the program (COZ_FORKED): the program itself waits for
// it, unprofiled, with registries of points and regions and nothing else. The child asks `coz run`,
// which takes one at a time (attach_request.h).
#ifndef LIBCOZ_LIFECYCLE_FORKED_START_H
#define LIBCOZ_LIFECYCLE_FORKED_START_H

#include "lifecycle/config.h"
#include "thread/shared_state.h"

namespace coz {

class ForkedStart {
 public:
  // In the constructor. True if a child is to be profiled, and not this process; what is needed for
  // that is prepared then.
  static bool is_wanted();

  // In a child that the program has forked, before it goes on and has other threads: starts to
  // profile it if it is the one. Keeps errno.
  static void in_child() noexcept;

  // Where macros find their points and regions; nullptr if nothing is or will be profiled here.
  static SharedState* registries() noexcept;

 private:
  struct Waiting {
    Forked forked;
    SharedState& shared;
  };
  // Set at the start, and nullptr again in each child once it is known whether it is the one.
  static Waiting* waiting_;
};

}  // namespace coz

#endif  // LIBCOZ_LIFECYCLE_FORKED_START_H
