// How many samples fell in each target (target/targets.h) since the start of the run.
//
// Signal handlers of all threads count, the experimenter reads; lock-free. The memory is one
// mapping, of which only the pages of sampled targets are ever used.
#ifndef LIBCOZ_SAMPLING_HISTOGRAM_H
#define LIBCOZ_SAMPLING_HISTOGRAM_H

#include <atomic>
#include <cstdint>

#include "kernel/shared_file.h"
#include "kernel/zeroed_memory.h"

namespace coz {

class Histogram {
 public:
  // Targets that are counted; samples in further ones count in the totals only.
  static constexpr std::uint32_t kMaxSeen = 1U << 16;

  Histogram() = default;
  Histogram(const Histogram&) = delete;
  Histogram& operator=(const Histogram&) = delete;
  ~Histogram();

  // Before any sample, with address space for `later` targets to come. False if there is no memory.
  bool reserve(std::uint32_t target_count, std::uint32_t later = 0,
               Sharing sharing = Sharing::kCopied) noexcept;
  // The same in memory that processes of a job share, who count together.
  bool reserve(std::uint32_t target_count, SharedFile& joint) noexcept;

  // Sets the number of targets, while other threads count. For one thread. False, and nothing
  // changes, if there is no room or memory.
  bool grow(std::uint32_t target_count) noexcept;

  // Counts a sample in the totals.
  void count_sample(bool in_scope) noexcept {
    totals_->samples.fetch_add(1, std::memory_order_relaxed);
    if (in_scope) totals_->in_scope.fetch_add(1, std::memory_order_relaxed);
  }
  // The same for one that was dropped in the kernel, of which no target is known.
  void count_in_kernel() noexcept {
    totals_->samples.fetch_add(1, std::memory_order_relaxed);
    totals_->in_kernel.fetch_add(1, std::memory_order_relaxed);
  }
  // The same for a sample in a wait that the program, or its OpenMP library, spins through.
  void count_spun() noexcept {
    totals_->samples.fetch_add(1, std::memory_order_relaxed);
    totals_->spun.fetch_add(1, std::memory_order_relaxed);
    own_spun_.fetch_add(1, std::memory_order_relaxed);
  }
  std::uint64_t spun() const noexcept { return totals_->spun.load(std::memory_order_relaxed); }
  // The same of this rank alone, where ranks count together.
  std::uint64_t own_spun() const noexcept { return own_spun_.load(std::memory_order_relaxed); }
  // The sample fell in this target, and perhaps in others, too.
  void count(std::uint32_t target, std::uint32_t function) noexcept { add(target, function, 1); }

  // Threads have waited in this target for so many periods. That is in no total, since nothing was
  // sampled.
  void count_waits(std::uint32_t target, std::uint32_t periods) noexcept;
  std::uint64_t waits() const noexcept { return totals_->waits.load(std::memory_order_relaxed); }

  std::uint64_t total() const noexcept { return totals_->samples.load(std::memory_order_relaxed); }
  std::uint64_t in_scope() const noexcept {
    return totals_->in_scope.load(std::memory_order_relaxed);
  }
  std::uint64_t in_kernel() const noexcept {
    return totals_->in_kernel.load(std::memory_order_relaxed);
  }
  std::uint64_t of(std::uint32_t target) const noexcept;
  // The function of the first sample in the target: its id in the target's module.
  std::uint32_t function_of(std::uint32_t target) const noexcept;

  // The targets that have samples, in the order of their first samples: seen(0) to
  // seen(seen_count() − 1).
  std::uint32_t seen_count() const noexcept;
  std::uint32_t seen(std::uint32_t index) const noexcept;

 private:
  struct Cell {
    std::atomic<std::uint64_t> samples;
    std::atomic<std::uint32_t> function;
  };
  struct Totals {
    std::atomic<std::uint64_t> samples{0};
    std::atomic<std::uint64_t> in_scope{0};
    std::atomic<std::uint64_t> in_kernel{0};
    std::atomic<std::uint64_t> waits{0};
    std::atomic<std::uint64_t> spun{0};
    std::atomic<std::uint32_t> seen{0};
  };

  void add(std::uint32_t target, std::uint32_t function, std::uint32_t samples) noexcept;

  bool is_target(std::uint32_t target) const noexcept {
    return target < target_count_.load(std::memory_order_acquire);
  }

  Cell* cells_ = nullptr;
  std::atomic<std::uint32_t> target_count_{0};
  std::uint32_t room_ = 0;
  Totals own_totals_;
  std::atomic<std::uint64_t> own_spun_{0};
  Totals* totals_ = &own_totals_;
  std::atomic<std::uint32_t>* seen_ = nullptr;  // target + 1; 0 while it is being entered
};

}  // namespace coz

#endif  // LIBCOZ_SAMPLING_HISTOGRAM_H
