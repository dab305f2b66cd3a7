// For comparison only: the rules of the classic tool, as its publications and its behaviour
// describe them. Nothing in libcoz/ works like this.
//
//   samples     kept until ten have come (or until a call that may wake), then processed together:
//               `local` grows by d for each in the line, and all that is owed is paid
//   oversleep   added to `local`, so that it can raise G
//   blocking    neither drains nor pays; on waking `local` grows by all that G has grown by
//               meanwhile, whoever woke the thread
//   waiting for the outside   not accounted for
#ifndef TESTS_ORACLE_CLASSIC_ACCOUNTING_H
#define TESTS_ORACLE_CLASSIC_ACCOUNTING_H

#include <algorithm>
#include <memory>

#include "tests/oracle/accounting.h"

namespace oracle {

class ClassicAccounting final : public Accounting {
 public:
  ClassicAccounting(Nanoseconds& global, Clock clock) noexcept : global_(global), clock_(clock) {}

  void sampled(Nanoseconds delay) noexcept override {
    pending_ += delay;
    if (++samples_ >= kBatch && !paying_ && !blocked_) catch_up();
  }

  void acquire(std::uintptr_t, FunctionRef<bool> attempt, Call call) override {
    if (!attempt()) credited(call);
  }
  void acquire_lock(std::uintptr_t lock, coz::LockUse, bool, FunctionRef<coz::LockHolder>,
                    FunctionRef<bool> attempt, Call call) override {
    acquire(lock, attempt, call);
  }
  void release(std::uintptr_t, FunctionRef<void> call) override {
    catch_up();
    call();
  }
  void release_mutex(std::uintptr_t mutex, FunctionRef<bool>, FunctionRef<void> call) override {
    release(mutex, call);
  }
  void release_rwlock(std::uintptr_t lock, FunctionRef<void> call) override { release(lock, call); }
  void signal_condition(std::uintptr_t condition, FunctionRef<void> call) override {
    release(condition, call);
  }
  void wait_for_condition(coz::rules::Condition, FunctionRef<bool>, LongerCall call,
                          FunctionRef<Nanoseconds>) override {
    credited([&] { return call(0); });
  }
  void meet(std::uintptr_t, Call call) override {
    catch_up();
    credited(call);
  }
  void wait_for_outside(bool, FunctionRef<void> call) override {
    blocked_ = true;
    call();
    blocked_ = false;
  }

  void create(FunctionRef<void, Nanoseconds> call) override {
    catch_up();
    call(local_);
  }
  void begin(Nanoseconds inherited, std::uintptr_t) noexcept override {
    local_ = inherited;
    pending_ = 0;
    samples_ = 0;
  }
  void end(std::uintptr_t) noexcept override { catch_up(); }

  Nanoseconds effective_now() const noexcept override { return clock_.now() - global_; }

 private:
  static constexpr int kBatch = 10;

  void credited(Call call) {
    const Nanoseconds before = global_;
    call();
    local_ += global_ - before;
  }

  void catch_up() noexcept {
    paying_ = true;
    samples_ = 0;
    local_ += pending_;
    pending_ = 0;
    global_ = std::max(global_, local_);
    if (local_ < global_) {
      const Nanoseconds start = clock_.now();
      local_ += clock_.sleep_until(start + global_ - local_) - start;
    }
    paying_ = false;
  }

  Nanoseconds& global_;
  Clock clock_;
  Nanoseconds local_ = 0;
  Nanoseconds pending_ = 0;
  int samples_ = 0;
  bool paying_ = false;
  bool blocked_ = false;
};

class ClassicProfiler final : public Profiler {
 public:
  explicit ClassicProfiler(Clock clock) noexcept : clock_(clock) {}

  std::unique_ptr<Accounting> profile_thread(std::uint32_t) override {
    return std::make_unique<ClassicAccounting>(global_, clock_);
  }
  // Its threads are told the delay with each sample.
  void select(double) noexcept override {}
  Nanoseconds global_delay() const noexcept override { return global_; }

 private:
  Nanoseconds global_ = 0;
  Clock clock_;
};

}  // namespace oracle

#endif  // TESTS_ORACLE_CLASSIC_ACCOUNTING_H
