// A call into the kernel that a wrapper makes: an object of this class lives around it, and gives
// the calling line the samples that fell in it (thread/kernel_samples.h).
//
// In any thread of the program, also in one that is not profiled, or is cancelled in the call.
// errno is kept.
#ifndef LIBCOZ_INTERPOSE_KERNEL_CALL_H
#define LIBCOZ_INTERPOSE_KERNEL_CALL_H

#include <cstdint>

#include "lifecycle/runtime.h"
#include "thread/session.h"

namespace coz {

class KernelCall {
 public:
  KernelCall() noexcept : thread_(Session::current_thread()) {
    if (thread_ == nullptr) return;
    start_ = now();
    const auto frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    outer_frame_ = thread_->kernel_call_frame;
    if (thread_->is_in_kernel_call.load(std::memory_order_relaxed)) look_at_call_before(frame);
    thread_->kernel_call_frame = frame;
    thread_->is_in_kernel_call.store(true, std::memory_order_relaxed);
    if (thread_->is_ticked) await_tick();
    if (thread_->delay.has_timer) hold_timer(true);
  }
  ~KernelCall() {
    if (thread_ == nullptr) return;
    if (thread_->delay.has_timer) hold_timer(false);
    thread_->kernel_call_frame = outer_frame_;
    thread_->is_in_kernel_call.store(was_in_call_, std::memory_order_relaxed);
    if (thread_->missed_ticks.load(std::memory_order_relaxed) > 0) {
      Runtime::take_missed_ticks(*thread_);
    }
    const Nanoseconds end = now();
    if (thread_->kernel.may_have_ended(end)) Runtime::kernel_call_returns(*thread_, start_, end);
  }
  KernelCall(const KernelCall&) = delete;
  KernelCall& operator=(const KernelCall&) = delete;

 private:
  // Has a handler interrupted the call before, and makes this one? Otherwise it has left that call
  // by longjmp, and the ticks that were missed since then were not missed in a call.
  void look_at_call_before(std::uintptr_t frame) noexcept {
    const Session* session = Session::active();
    const auto is_in_handler = session == nullptr ? nullptr : session->delays.is_in_signal_handler;
    was_in_call_ = frame < outer_frame_ && (is_in_handler == nullptr || is_in_handler());
    if (!was_in_call_) thread_->missed_ticks.store(0, std::memory_order_relaxed);
  }

  // A tick that was sent before the timer's thread knows of the call. Not for long: the kernel may
  // be unable to deliver it, and the timer's thread may have been preempted.
  void await_tick() const noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    int spins = 0;
    while (thread_->tick_in_flight.load(std::memory_order_relaxed) && ++spins < kMaxSpins) {
    }
  }

  // A signal of the thread's own timer would make the call transfer less than it was to, as a tick
  // would.
  void hold_timer(bool holds) const noexcept {
    const Session* session = Session::active();
    if (session == nullptr) return;
    ThreadDelays delays(thread_->delay, session->delays);
    if (holds) {
      delays.hold_timer();
    } else {
      delays.release_timer();
    }
  }

  static constexpr int kMaxSpins = 100'000;  // some 50 µs

  ThreadState* thread_;
  Nanoseconds start_ = 0;
  std::uintptr_t outer_frame_ = 0;
  bool was_in_call_ = false;
};

}  // namespace coz

#endif  // LIBCOZ_INTERPOSE_KERNEL_CALL_H
