#include "delay/thread_delays.h"

#include <optional>

namespace coz {
namespace {

// Bytes. The kernel saves more than this (1 KB and up) on the stack before it calls a handler.
constexpr std::uintptr_t kLeastSignalFrame = 512;

std::uintptr_t frame() noexcept {
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
}

}  // namespace

class ThreadDelays::Turn {
 public:
  explicit Turn(ThreadState& thread) noexcept
      : thread_(thread), was_(thread.busy.load(std::memory_order_relaxed)) {
    thread_.busy.store(true, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~Turn() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    thread_.busy.store(was_, std::memory_order_relaxed);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  ThreadState& thread_;
  bool was_;
};

void ThreadDelays::sampled(Nanoseconds delay) noexcept {
  if (thread_.busy.load(std::memory_order_relaxed) ||
      thread_.blocked.load(std::memory_order_relaxed)) {
    if (delay > 0) thread_.deferred.fetch_add(delay, std::memory_order_relaxed);
    return;
  }
  const Turn turn(thread_);
  if (delay > 0) thread_.clock.charge(delay, environment_.global);
  pay_until_settled();
}

bool ThreadDelays::is_interrupting() const noexcept {
  if (thread_.busy.load(std::memory_order_relaxed)) return true;
  if (!thread_.blocked.load(std::memory_order_relaxed)) return false;
  // A handler may have left the call for good, by longjmp: then no signal frame lies below it.
  if (frame() + kLeastSignalFrame < thread_.blocked_frame) return true;
  thread_.blocked.store(false, std::memory_order_relaxed);
  return false;
}

void ThreadDelays::settle() noexcept {
  if (is_interrupting()) return;
  const Turn turn(thread_);
  drain();
  pay_until_settled();
}

bool ThreadDelays::before_blocking() noexcept {
  if (is_interrupting()) return false;
  const Turn turn(thread_);
  drain();
  thread_.blocked_at = thread_.clock.block(environment_.now());
  thread_.blocked_frame = frame();
  thread_.blocked.store(true, std::memory_order_relaxed);
  return true;
}

void ThreadDelays::after_blocking(WokenBy woken_by,
                                  std::initializer_list<std::uintptr_t> wakers) noexcept {
  const Turn turn(thread_);
  thread_.blocked.store(false, std::memory_order_relaxed);
  if (woken_by == WokenBy::kThread) {
    std::optional<Nanoseconds> least;
    for (const std::uintptr_t object : wakers) {
      const auto waker = environment_.wakers.find(object);
      // What we released ourselves (the mutex of a condition) did not wake us.
      if (!waker || waker->thread == thread_.slot) continue;
      least = least ? std::min(*least, waker->local) : waker->local;
    }
    thread_.clock.credit(thread_.blocked_at, environment_.now(), least, environment_.global.get(),
                         environment_.most_saved_wait);
  }
  drain();
  if (woken_by != WokenBy::kNobody) pay_until_settled();
}

void ThreadDelays::publish() noexcept {
  const Turn turn(thread_);
  drain();
}

void ThreadDelays::catch_up() noexcept {
  const Turn turn(thread_);
  drain();
  pay_until_settled();
}

void ThreadDelays::drain() noexcept {
  // Looked at first: this runs at every lock, and an exchange costs as much as the lock itself.
  if (thread_.deferred.load(std::memory_order_relaxed) == 0) return;
  const Nanoseconds deferred = thread_.deferred.exchange(0, std::memory_order_relaxed);
  if (deferred > 0) thread_.clock.charge(deferred, environment_.global);
}

void ThreadDelays::pay_until_settled() noexcept {
  // G may grow while the thread sleeps.
  for (;;) {
    const Nanoseconds due = thread_.clock.pause_due(environment_.global.get(), kLeastPause);
    if (due == 0) return;
    const Nanoseconds start = environment_.now();
    thread_.clock.paused(due, environment_.sleep_until(start + due) - start);
  }
}

}  // namespace coz
