// What a simulated thread tells its profiler: the samples, and every call that blocks or wakes.
//
// Two implementations: coz_accounting.h is the project's own code in libcoz/delay; of
// classic_accounting.h the model alone makes use, to compare. All functions are called on the
// thread's fiber and may let simulated time pass.
#ifndef TESTS_ORACLE_ACCOUNTING_H
#define TESTS_ORACLE_ACCOUNTING_H

#include <cstdint>
#include <memory>

#include "delay/call_rules.h"
#include "delay/delay_state.h"
#include "tests/oracle/function_ref.h"

namespace oracle {

using coz::Nanoseconds;
using coz::WakeSource;

class Accounting {
 public:
  // A call that may block, as it really is; says who made it return.
  using Call = FunctionRef<WakeSource>;

  Accounting() = default;
  Accounting(const Accounting&) = delete;
  Accounting& operator=(const Accounting&) = delete;
  virtual ~Accounting() = default;

  // A sample in the selected line (`delay` > 0) or elsewhere.
  virtual void sampled(Nanoseconds delay) noexcept = 0;
  // Where the program makes its next call.
  virtual void called_from(std::uintptr_t) noexcept {}

  // `attempt`: whether the object could be had at once.
  virtual void acquire(std::uintptr_t object, FunctionRef<bool> attempt, Call call) = 0;
  // The same for a lock. `is_selected`: whether its wait is sped up; `holder`: who has it alone.
  virtual void acquire_lock(std::uintptr_t lock, coz::LockUse use, bool is_selected,
                            FunctionRef<coz::LockHolder> holder, FunctionRef<bool> attempt,
                            Call call) = 0;
  virtual void release(std::uintptr_t object, FunctionRef<void> call) = 0;
  virtual void release_mutex(std::uintptr_t mutex, FunctionRef<bool> is_waited_for,
                             FunctionRef<void> call) = 0;
  virtual void release_rwlock(std::uintptr_t lock, FunctionRef<void> call) = 0;
  virtual void signal_condition(std::uintptr_t condition, FunctionRef<void> call) = 0;
  // `call` takes by how much later it is to time out; `timed_out`: when, should it say that a
  // external event made it return.
  using LongerCall = FunctionRef<WakeSource, Nanoseconds>;
  virtual void wait_for_condition(coz::rules::Condition waits, FunctionRef<bool> is_waited_for,
                                  LongerCall call, FunctionRef<Nanoseconds> timed_out) = 0;
  virtual void meet(std::uintptr_t barrier, Call call) = 0;
  virtual void wait_for_outside(bool is_selected, FunctionRef<void> call) = 0;

  // The thread creates another; `call` gets what that one begins with.
  virtual void create(FunctionRef<void, Nanoseconds> call) = 0;
  // A new thread of its kind begins, and later ends. Others wait for its end as `object`.
  virtual void begin(Nanoseconds inherited, std::uintptr_t kind) noexcept = 0;
  virtual void end(std::uintptr_t object) noexcept = 0;

  virtual Nanoseconds effective_now() const noexcept = 0;
  // What the experimenter reads of the thread; nothing with other rules than ours.
  virtual const coz::DelayState* state() const noexcept { return nullptr; }
};

// The accounting of a whole program: makes that of each thread.
class Profiler {
 public:
  Profiler() = default;
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;
  virtual ~Profiler() = default;
  virtual std::unique_ptr<Accounting> profile_thread(std::uint32_t slot) = 0;
  // Of the line whose samples have a delay, from now on.
  virtual void select(double speedup) noexcept = 0;
  virtual Nanoseconds global_delay() const noexcept = 0;
};

// The simulated clock, as both implementations take it.
struct Clock {
  Nanoseconds (*now)() noexcept;
  Nanoseconds (*sleep_until)(Nanoseconds deadline) noexcept;
};

}  // namespace oracle

#endif  // TESTS_ORACLE_ACCOUNTING_H
