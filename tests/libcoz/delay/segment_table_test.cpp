#include "delay/segment_table.h"

#include <catch2/catch.hpp>
#include <cstdint>

#include "tests/libcoz/delay/one_segment.h"

using namespace one_segment;

namespace {

constexpr std::uintptr_t kOtherEnd = 0x40abff;

// A worker that takes every task after the same call, and is sampled once a period.
class Worker {
 public:
  struct Task {
    Nanoseconds length;
    std::uintptr_t end;
    bool is_target;
  };

  // Returns the line time that the task is charged.
  Nanoseconds run(const Task& task) {
    smoother_.begin_segment(kSite);
    if (!smoother_.is_idle()) smoother_.resume_segment(now_);
    Nanoseconds charged = 0;
    const Nanoseconds end = now_ + task.length;
    while (next_sample_ < end) {
      now_ = next_sample_;
      next_sample_ += kPeriod + static_cast<Nanoseconds>(random() % 1000) - 500;
      if (task.is_target) sampled_ += kPeriod;
      smoother_.sample(task.is_target ? std::optional(kTarget) : std::nullopt, kPeriod, now_);
      if (smoother_.is_idle()) continue;
      charged += discharge_meanwhile(smoother_, now_);
    }
    now_ = end;
    if (!smoother_.is_idle()) charged += discharge(smoother_, now_, task.end);
    return charged;
  }

  std::uint32_t random() {
    random_ = random_ * 1664525 + 1013904223;
    return random_ >> 8;
  }
  Nanoseconds sampled() const { return sampled_; }

 private:
  ChargeSmoother smoother_;
  Nanoseconds now_ = 0;
  Nanoseconds next_sample_ = kPeriod / 3;
  Nanoseconds sampled_ = 0;
  std::uint32_t random_ = 1;
};

struct Charged {
  Nanoseconds target = 0;
  Nanoseconds other = 0;
  int targets_without = 0;  // of the target's runs, those that were charged nothing
};

// The two tasks in random order.
Charged run_both(Worker& worker, const Worker::Task& target, const Worker::Task& other, int tasks) {
  Charged charged;
  for (int i = 0; i < tasks; ++i) {
    if (worker.random() % 2 == 0) {
      const Nanoseconds part = worker.run(target);
      charged.target += part;
      charged.targets_without += part == 0;
    } else {
      charged.other += worker.run(other);
    }
  }
  return charged;
}

}  // namespace

TEST_CASE("a task is not charged for samples in another one, which takes longer") {
  Worker worker;
  const Worker::Task target{600 * kMicrosecond, kEnd, true};
  const Worker::Task other{350 * kMicrosecond, kEnd, false};
  run_both(worker, target, other, 400);
  const Nanoseconds before = worker.sampled();
  const Charged charged = run_both(worker, target, other, 4000);
  CHECK(charged.other < charged.target / 50);
  CHECK(charged.target == Approx(worker.sampled() - before).epsilon(0.02));
  CHECK(charged.targets_without == 0);  // though four runs in ten have no sample
}

TEST_CASE("a task is not charged for samples in another one, which ends with another call") {
  Worker worker;
  const Worker::Task target{400 * kMicrosecond, kEnd, true};
  const Worker::Task other{400 * kMicrosecond, kOtherEnd, false};
  run_both(worker, target, other, 400);
  const Charged charged = run_both(worker, target, other, 4000);
  CHECK(charged.other < charged.target / 50);
  CHECK(charged.targets_without == 0);
}

TEST_CASE("runs that differ only in length share what is to be charged") {
  Worker worker;
  Nanoseconds charged = 0;
  int without = 0;
  for (int i = 0; i < 4000; ++i) {
    const Nanoseconds length = (50 + worker.random() % 900) * kMicrosecond;
    const Nanoseconds part = worker.run({length, kEnd, true});
    charged += part;
    if (i > 100) without += part == 0;
  }
  CHECK(charged == Approx(worker.sampled()).epsilon(0.01));
  CHECK(without == 0);
}

TEST_CASE("where tasks change places, they are told apart anew") {
  Worker worker;
  const Worker::Task one{600 * kMicrosecond, kEnd, true};
  const Worker::Task other{350 * kMicrosecond, kEnd, false};
  run_both(worker, one, other, 4000);
  const Worker::Task now_other{600 * kMicrosecond, kEnd, false};
  const Worker::Task now_target{350 * kMicrosecond, kEnd, true};
  run_both(worker, now_target, now_other, 20'000);
  const Charged charged = run_both(worker, now_target, now_other, 4000);
  CHECK(charged.other < charged.target / 50);
}
