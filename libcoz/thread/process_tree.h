// The processes that are profiled together (--tree): the launched one, here called the first, which
// makes the experiments, and its descendants. They share the block that this is part of
// (shared_state.h).
//
// Without --tree nothing is set, and no function but is_on() matters. Any thread; lock-free and
// signal-safe. Zeroed memory is a tree that has not begun.
#ifndef LIBCOZ_THREAD_PROCESS_TREE_H
#define LIBCOZ_THREAD_PROCESS_TREE_H

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "common/clock.h"

namespace coz {

class ProcessTree {
 public:
  // In the first process, at the start.
  void begin(int process) noexcept {
    joined_.store(1, std::memory_order_relaxed);
    first_.store(process, std::memory_order_release);
  }
  bool is_on() const noexcept { return first() != 0; }
  int first() const noexcept { return first_.load(std::memory_order_acquire); }
  // Its thread that makes the experiments; 0: not begun.
  void set_experimenter(int thread) noexcept {
    experimenter_.store(thread, std::memory_order_release);
  }
  int experimenter() const noexcept { return experimenter_.load(std::memory_order_acquire); }

  // A child takes part from now on.
  void join() noexcept { joined_.fetch_add(1, std::memory_order_relaxed); }
  // It runs a program that the user named, the `index`th. Of more than 64 the first are told.
  void runs(std::size_t index) noexcept {
    if (index < kMaxPrograms) programs_.fetch_or(bit(index), std::memory_order_relaxed);
  }
  // Has any process run it?
  bool has_run(std::size_t index) const noexcept {
    return index >= kMaxPrograms || (programs_.load(std::memory_order_relaxed) & bit(index)) != 0;
  }
  // It leaves by itself, having used that much processor time.
  void leave(Nanoseconds processor_time) noexcept {
    processor_time_.fetch_add(processor_time, std::memory_order_relaxed);
  }
  // How many have taken part so far.
  std::uint64_t joined() const noexcept { return joined_.load(std::memory_order_relaxed); }
  // What those used that have left.
  Nanoseconds processor_time_of_left() const noexcept {
    return processor_time_.load(std::memory_order_relaxed);
  }

  // The first process has ended: there will be no more experiments, and the others stop.
  void end() noexcept { has_ended_.store(true, std::memory_order_release); }
  bool has_ended() const noexcept { return has_ended_.load(std::memory_order_acquire); }

  // True for one of all processes: a message is said once.
  bool may_say() noexcept { return !has_said_.exchange(true, std::memory_order_relaxed); }

  // Now and then, in whichever process, asks `is_missing(first(), experimenter())`: true if the
  // first process was killed, or is another program. Returns has_ended().
  template <typename IsMissing>
  bool look(Nanoseconds now, IsMissing is_missing) noexcept {
    Nanoseconds due = next_look_.load(std::memory_order_relaxed);
    if (now >= due &&
        next_look_.compare_exchange_strong(due, now + kBetweenLooks, std::memory_order_relaxed)) {
      if (is_missing(first(), experimenter())) end();
    }
    return has_ended();
  }

 private:
  static constexpr Nanoseconds kBetweenLooks = kSecond;
  static constexpr std::size_t kMaxPrograms = 64;
  static constexpr std::uint64_t bit(std::size_t index) { return std::uint64_t{1} << index; }

  std::atomic<int> first_{0};
  std::atomic<int> experimenter_{0};
  std::atomic<bool> has_said_{false};
  std::atomic<bool> has_ended_{false};
  std::atomic<std::uint64_t> joined_{0};
  std::atomic<std::uint64_t> programs_{0};
  std::atomic<Nanoseconds> processor_time_{0};
  std::atomic<Nanoseconds> next_look_{0};
};

}  // namespace coz

#endif  // LIBCOZ_THREAD_PROCESS_TREE_H
