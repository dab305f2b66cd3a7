// How long to wait, after a change of the speedup, until queues have reached steady state; and how
// much longer a window stays open.
//
// While a queue fills or drains, the threads on its two sides do not wait for each other. In steady
// state a stage waits now and then: at a full queue, or at an empty one. A window may open at such
// a moment, as in the regenerative method of simulation (Crane and Lemoine 1977): from there on
// nothing depends on how the queue was before.
//
// Threads that waited for each other within some time form a *group*. Threads that hardly ever run
// are left out, unless others wait for them, as for a stage that reads or writes. A thread that
// serves several queues in turn waits at one of them, and keeps pace with all: it is tied to all
// those for which it waits at that object, or in that role. Steady state is told by the number of
// groups, which is what is usual for the program. Waiting for that takes at most kMaxShare of the
// time. Where that has been used up, or kLimit, the queue is measured as it is, and the window is
// marked.
//
// Plain logic; one thread; allocates.
#ifndef LIBCOZ_EXPERIMENT_QUEUE_SETTLING_H
#define LIBCOZ_EXPERIMENT_QUEUE_SETTLING_H

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "common/clock.h"
#include "profile_log/records.h"

namespace coz {

class QueueSettling {
 public:
  static constexpr double kMaxShare = 0.4;
  // Queues that take longer are measured as they are: stages tell the pace that lasts.
  static constexpr Nanoseconds kLimit = 2 * kSecond;
  static constexpr int kMaxStretch = 3;

  // A half of a window of `target`.
  void observe(std::uint32_t target, const FlowResult& half);
  // True too where nothing is known yet.
  bool is_steady(const FlowResult& flow) const { return is_usual(count_groups(flow)); }
  // True if queues were often found out of steady state in windows of `target`.
  bool is_slow(std::uint32_t target) const;

  // How much longer, in real time, a new speedup is in force before anything else is waited for, of
  // which `real` is over and `delay` was inserted in it; 0: no longer. What stages have in work
  // leaves them in effective time. So `length` counts in that where threads wait for each other,
  // up to kMaxStretch times as long in real time.
  Nanoseconds rest(Nanoseconds length, Nanoseconds real, Nanoseconds delay) const;
  // How much longer, in real time, a window of `length` is open. Half of the delay inserted in it
  // is added to its length: with most of the time paused, few items would pass in it.
  Nanoseconds rest_of_window(Nanoseconds length, Nanoseconds real, Nanoseconds delay) const;
  // The longest time to wait now; 0: the window opens as things are. `elapsed`: since the start.
  Nanoseconds limit(std::uint32_t target, Nanoseconds elapsed) const;
  // So long was waited.
  void waited(Nanoseconds time) { waited_ += time; }

 private:
  static constexpr std::size_t kMaxThreads = 1024;
  static constexpr std::size_t kHistory = 64;  // halves, of all targets
  static constexpr std::size_t kMinHistory = 8;
  static constexpr std::size_t kTargetHistory = 32;  // halves, of one
  static constexpr double kMinUsual = 0.1;           // of the halves have the usual number or less
  static constexpr double kMinUnsteady = 0.15;       // of the halves of a slow target

  // How long has been waited for each thread.
  using Wakers = std::map<std::uint64_t, Nanoseconds>;
  // Of one waiter, by what it waited at: a role, or else an object.
  using Places = std::map<std::uint64_t, Wakers>;

  std::size_t count_groups(const FlowResult& flow) const;
  // Those to whom a wait ties its thread: who ended it, and who ends others at the same place. A
  // wait that goes on, or that nobody is known to have ended, stands for the longest of its thread.
  // Nobody, if none is known.
  std::vector<std::uint64_t> tied_by(std::uint64_t waiter, const ThreadFlow::Wait& wait) const;
  // Does `one` wait there for `other`, and `other` for `one`? Then the place tells no direction.
  bool is_mutual(std::uint64_t place, std::uint64_t one, std::uint64_t other) const;
  bool is_usual(std::size_t groups) const;
  // Do other threads wait for this one for a part of the time?
  bool is_waited_for(std::uint64_t thread) const;

  std::map<std::uint64_t, Nanoseconds> ran_;  // by thread, in all halves
  Nanoseconds all_ran_ = 0;
  Nanoseconds observed_ = 0;                // the length of all halves
  std::map<std::uint64_t, Places> places_;  // of each waiter
  Wakers waited_for_;                       // by all others
  std::deque<std::size_t> groups_;
  std::map<std::uint32_t, std::deque<std::size_t>> by_target_;
  Nanoseconds waited_ = 0;
};

}  // namespace coz

#endif  // LIBCOZ_EXPERIMENT_QUEUE_SETTLING_H
