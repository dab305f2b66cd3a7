// Fibers on a simulated clock and simulated cores.
//
// Everything happens at instants of the simulated clock, which stands still while a fiber runs its
// C++ code. Only use_cpu, sleep_until and block let it advance. A fiber that uses processor time
// holds a core; where there are more fibers than cores, they share them as Linux does it: the one
// that has had least runs next, for a turn; one that wakes up takes the core of another that has
// had more. A fiber that sleeps or blocks catches up on a part only of what others had meanwhile.
// There is one queue for all cores. Events of the same instant come in the order in which they were
// planned, so a run depends on nothing but its input.
//
// One Scheduler runs at a time, in one real thread. At the end of a run the fibers are abandoned
// where they stand: what they keep on their stacks is not destroyed, so it must not own anything.
#ifndef TESTS_ORACLE_SCHEDULER_H
#define TESTS_ORACLE_SCHEDULER_H

#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <vector>

#include "common/clock.h"

namespace oracle {

using coz::kMicrosecond;
using coz::kMillisecond;
using coz::kSecond;
using coz::Nanoseconds;

class Scheduler {
 public:
  // `cores` 0: one for each fiber.
  explicit Scheduler(int cores, Nanoseconds start = 0);
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;
  ~Scheduler();

  using FiberId = std::size_t;
  // `body` must not return.
  FiberId spawn(std::function<void()> body);

  Nanoseconds now() const noexcept { return now_; }
  // Lets the simulated time pass up to `end`. Not from a fiber.
  void run_until(Nanoseconds end);

  // From a fiber.
  FiberId current() const noexcept { return current_; }
  void use_cpu(Nanoseconds duration) noexcept;
  void sleep_until(Nanoseconds deadline) noexcept;
  // Until another fiber calls wake(). It then goes on after `latency`, when a core is free.
  void block() noexcept;
  void wake(FiberId fiber, Nanoseconds latency) noexcept;

  // The processor time of a fiber, and for how long it has waited for a core. From outside.
  Nanoseconds ran(FiberId fiber) const noexcept;
  Nanoseconds waited(FiberId fiber) const noexcept;

 private:
  static constexpr Nanoseconds kNever = -1;
  struct Fiber {
    std::function<void()> body;
    std::unique_ptr<std::byte[]> stack;
    ucontext_t context;
    Nanoseconds turn_left = 0;
    Nanoseconds had = 0;  // processor time, and what its sleep has made up for
    Nanoseconds ran = 0;
    Nanoseconds waited = 0;
    Nanoseconds runs_since = kNever;   // in use_cpu, on a core
    Nanoseconds waits_since = kNever;  // for a core
    std::uint64_t next_event = 0;      // others are void
  };
  struct Event {
    Nanoseconds time;
    std::uint64_t order;
    FiberId fiber;
    bool operator>(const Event& other) const noexcept {
      return time != other.time ? time > other.time : order > other.order;
    }
  };

  static void enter() noexcept;
  Fiber& self() noexcept { return *fibers_[current_]; }
  void plan(FiberId fiber, Nanoseconds time);
  void switch_to_next() noexcept;
  void take_core() noexcept;
  void wait_for_core(FiberId fiber) noexcept;
  void give_core() noexcept;
  bool preempt_another() noexcept;
  void raise_least_had() noexcept;
  void stop_running(Fiber& fiber) noexcept;

  std::vector<std::unique_ptr<Fiber>> fibers_;  // the first stands for the caller of run_until
  FiberId current_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t planned_ = 0;
  Nanoseconds now_;
  bool cores_for_all_;
  int free_cores_;
  std::vector<FiberId> ready_;  // waiting for a core
  Nanoseconds least_had_ = 0;   // of those that run or wait; never falls
};

}  // namespace oracle

#endif  // TESTS_ORACLE_SCHEDULER_H
