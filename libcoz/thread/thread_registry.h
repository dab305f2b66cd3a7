// The slots of all profiled threads. Lock-free; any thread; nothing allocates.
//
// A slot takes memory from its first use on: its ThreadState is constructed then, and stays.
#ifndef LIBCOZ_THREAD_THREAD_REGISTRY_H
#define LIBCOZ_THREAD_THREAD_REGISTRY_H

#include <array>
#include <atomic>
#include <cstdint>
#include <new>

#include "thread/thread_state.h"

namespace coz {

class ThreadRegistry {
 public:
  static constexpr std::uint32_t kSlots = 16384;

  // A slot for the calling thread, or nullptr when all are taken: the thread then runs unprofiled.
  // `process`, `process_mark`: ThreadState's.
  ThreadState* claim(int tid, int process = ThreadState::kFirstProcess,
                     std::uintptr_t process_mark = 0) noexcept {
    const std::uint32_t start = hint_.load(std::memory_order_relaxed);
    for (std::uint32_t i = 0; i < kSlots; ++i) {
      const std::uint32_t slot = (start + i) % kSlots;
      ThreadState* state = take(slot);
      if (state == nullptr) continue;
      hint_.store((slot + 1) % kLowSlots, std::memory_order_relaxed);
      raise_high_water(slot + 1);
      state->number = threads_seen_.fetch_add(1, std::memory_order_relaxed) + 1;
      state->delay.holder = static_cast<LockHolder>(tid);
      state->process_mark.store(process_mark, std::memory_order_relaxed);
      state->process.store(process, std::memory_order_relaxed);
      state->tid.store(tid, std::memory_order_release);
      uses_[slot].store(Use::kRegistered, std::memory_order_release);
      return state;
    }
    return nullptr;
  }

  void release(ThreadState& thread) noexcept {
    thread.tid.store(0, std::memory_order_release);
    uses_[thread.delay.slot].store(Use::kFree, std::memory_order_release);
  }

  // The same for a thread of a process that is gone, unless another has the slot by now. Calls
  // `before()` first, while nobody can claim it.
  template <typename Before>
  void release_if(ThreadState& thread, int process, std::uintptr_t process_mark,
                  Before before) noexcept {
    std::atomic<Use>& use = uses_[thread.delay.slot];
    Use seen = Use::kRegistered;
    if (!use.compare_exchange_strong(seen, Use::kClaimed, std::memory_order_acquire)) return;
    if (thread.process.load(std::memory_order_relaxed) == process &&
        thread.process_mark.load(std::memory_order_relaxed) == process_mark) {
      before();
      release(thread);
    } else {
      seen = Use::kClaimed;
      use.compare_exchange_strong(seen, Use::kRegistered, std::memory_order_release);
    }
  }

  // Calls visit(ThreadState&) for each thread that is registered now.
  template <typename Visit>
  void for_each(Visit visit) {
    const std::uint32_t end = high_water_.load(std::memory_order_acquire);
    for (std::uint32_t slot = 0; slot < end; ++slot) {
      if (uses_[slot].load(std::memory_order_acquire) == Use::kRegistered) {
        visit(slots_[slot].state);
      }
    }
  }

  std::uint64_t threads_seen() const noexcept {
    return threads_seen_.load(std::memory_order_relaxed);
  }

 private:
  enum class Use : std::uint8_t { kNever, kFree, kClaimed, kRegistered };
  union Slot {
    Slot() noexcept {}
    ThreadState state;
  };
  // The search starts at low slots, so that for_each() passes few where threads come and go.
  static constexpr std::uint32_t kLowSlots = 256;

  // nullptr if another thread has the slot.
  ThreadState* take(std::uint32_t slot) noexcept {
    Use use = uses_[slot].load(std::memory_order_relaxed);
    if (use > Use::kFree ||
        !uses_[slot].compare_exchange_strong(use, Use::kClaimed, std::memory_order_acquire)) {
      return nullptr;
    }
    ThreadState& state = slots_[slot].state;
    if (use == Use::kNever) new (&state) ThreadState;
    state.reset(slot);
    return &state;
  }

  void raise_high_water(std::uint32_t value) noexcept {
    std::uint32_t seen = high_water_.load(std::memory_order_relaxed);
    while (seen < value && !high_water_.compare_exchange_weak(
                               seen, value, std::memory_order_release, std::memory_order_relaxed)) {
    }
  }

  std::array<Slot, kSlots> slots_;
  std::array<std::atomic<Use>, kSlots> uses_{};
  std::atomic<std::uint32_t> hint_{0};
  std::atomic<std::uint32_t> high_water_{0};
  std::atomic<std::uint64_t> threads_seen_{0};
};

}  // namespace coz

#endif  // LIBCOZ_THREAD_THREAD_REGISTRY_H
