// How long a thread has waited at queues, and who ended its waits: users of a bounded queue wait
// for each other at a condition, a semaphore, a futex or a stream. Waits for locks, barriers and
// ends of threads are not counted. Waits for something outside count where nearly all of the
// thread's are ended by other threads, as those of an event loop by an eventfd.
//
// While a queue fills or drains, nobody waits at it, and the threads on its two sides work at paces
// of their own (experiment/flow_meter.h).
//
// The *role* of a wait for a condition is the condition's address less that of its mutex. It is the
// same in all queues of one type, but differs between the condition for room and the one for items:
// so a wait for room in one queue is told from a wait for an item in another.
//
// The owner adds; other threads may read. Nothing allocates or locks; signal-safe.
#ifndef LIBCOZ_DELAY_QUEUE_WAITS_H
#define LIBCOZ_DELAY_QUEUE_WAITS_H

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "common/clock.h"

namespace coz {

class QueueWaits {
 public:
  // Pairs of an object and a waker that are told apart; of the rest only the sum is kept.
  static constexpr std::size_t kPairs = 15;
  static constexpr std::uint32_t kUnknownWaker = ~0U;

  // Waits for `object` that the thread in the slot `waker` ended, in all.
  struct Wait {
    std::uintptr_t object;
    std::uint32_t waker;
    Nanoseconds waited;
    std::uintptr_t role;  // of the first such wait; 0: not known
  };

  void begin(Nanoseconds now) noexcept { since_.store(now, std::memory_order_relaxed); }

  void end(std::uintptr_t object, std::uint32_t waker, Nanoseconds now,
           std::uintptr_t role = 0) noexcept {
    const Nanoseconds since = since_.load(std::memory_order_relaxed);
    since_.store(0, std::memory_order_relaxed);
    if (since == 0 || now <= since) return;
    Entry& entry = entry_of(object, waker, role);
    entry.waited.store(entry.waited.load(std::memory_order_relaxed) + now - since,
                       std::memory_order_release);
  }

  // A wait for something outside, which a thread has ended, or not.
  void end_outside(Nanoseconds waited, bool by_thread) noexcept {
    outside_ += waited - outside_ / kRecent;
    outside_by_threads_ += (by_thread ? waited : 0) - outside_by_threads_ / kRecent;
  }
  // Have other threads ended nearly all of the recent ones?
  bool outside_is_threads() const noexcept {
    return outside_ > 0 && outside_by_threads_ >= outside_ / 10 * 9;
  }

  // A wait that earned no credit: a time-out ended it, or there was none.
  void cancel() noexcept { since_.store(0, std::memory_order_relaxed); }

  // When the wait began in which the thread is; 0 if it is in none.
  Nanoseconds since() const noexcept { return since_.load(std::memory_order_relaxed); }

  bool any() const noexcept { return entries_[0].waited.load(std::memory_order_relaxed) != 0; }

  template <typename Visit>
  void for_each(Visit visit) const {
    for (const Entry& entry : entries_) {
      const Nanoseconds waited = entry.waited.load(std::memory_order_acquire);
      if (waited == 0) continue;
      visit(Wait{entry.object.load(std::memory_order_relaxed),
                 entry.waker.load(std::memory_order_relaxed), waited,
                 entry.role.load(std::memory_order_relaxed)});
    }
  }

  void reset() noexcept {
    cancel();
    outside_ = outside_by_threads_ = 0;
    for (Entry& entry : entries_) entry.waited.store(0, std::memory_order_relaxed);
  }

 private:
  struct Entry {
    std::atomic<std::uintptr_t> object{0};
    std::atomic<std::uint32_t> waker{0};
    std::atomic<std::uintptr_t> role{0};
    std::atomic<Nanoseconds> waited{0};  // 0: the entry is free
  };

  // The last entry holds what has none of its own.
  Entry& entry_of(std::uintptr_t object, std::uint32_t waker, std::uintptr_t role) noexcept {
    for (std::size_t i = 0; i < kPairs; ++i) {
      Entry& entry = entries_[i];
      const bool is_free = entry.waited.load(std::memory_order_relaxed) == 0;
      if (is_free) {
        entry.object.store(object, std::memory_order_relaxed);
        entry.waker.store(waker, std::memory_order_relaxed);
        entry.role.store(role, std::memory_order_relaxed);
        return entry;
      }
      if (entry.object.load(std::memory_order_relaxed) == object &&
          entry.waker.load(std::memory_order_relaxed) == waker) {
        return entry;
      }
    }
    Entry& rest = entries_[kPairs];
    rest.object.store(0, std::memory_order_relaxed);
    rest.waker.store(kUnknownWaker, std::memory_order_relaxed);
    return rest;
  }

  static constexpr int kRecent = 32;  // waits, more or less

  std::atomic<Nanoseconds> since_{0};
  Nanoseconds outside_ = 0;             // time of recent waits for something outside
  Nanoseconds outside_by_threads_ = 0;  // and of those among them that threads ended
  std::array<Entry, kPairs + 1> entries_{};
};

}  // namespace coz

#endif  // LIBCOZ_DELAY_QUEUE_WAITS_H
