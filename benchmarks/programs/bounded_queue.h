// A queue of bounded length between threads, of a mutex and two condition variables.
#ifndef BENCHMARKS_PROGRAMS_BOUNDED_QUEUE_H
#define BENCHMARKS_PROGRAMS_BOUNDED_QUEUE_H

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <queue>

namespace ground_truth {

// `push` waits while there are `capacity` items, `pop` while there is none.
template <typename Item>
class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t capacity) : capacity_(capacity) {}

  void push(Item item) {
    std::unique_lock lock(mutex_);
    not_full_.wait(lock, [&] { return items_.size() < capacity_; });
    items_.push(item);
    not_empty_.notify_one();
  }

  Item pop() {
    std::unique_lock lock(mutex_);
    not_empty_.wait(lock, [&] { return !items_.empty(); });
    const Item item = items_.front();
    items_.pop();
    not_full_.notify_one();
    return item;
  }

 private:
  const std::size_t capacity_;
  std::mutex mutex_;
  std::condition_variable not_full_;
  std::condition_variable not_empty_;
  std::queue<Item> items_;
};

}  // namespace ground_truth

#endif  // BENCHMARKS_PROGRAMS_BOUNDED_QUEUE_H
