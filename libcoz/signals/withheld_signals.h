// What the program has blocked of the signals that the profiler needs, and what came meanwhile.
//
// A thread that blocks the signal of samples in the kernel would take none, and one that blocks
// SIGTRAP would be killed at a breakpoint instruction. So the kernel is not told: the thread's
// blocking is kept here, and a signal that someone has sent and that the handler gets though it is
// blocked is withheld until it is unblocked, waited for or ignored (POSIX.1-2017, System Interfaces
// 2.4.1). Like the kernel's, a signal that was sent to the process goes to a thread that waits for
// it, or else to one that does not block it, whoever was interrupted; and of each number one is
// pending at most. It comes with the siginfo that it was sent with. (What a timer sends to a thread
// looks as if it had been sent to the process, and is taken for that.)
//
// What a thread sends to one that is sampled would be lost where a sample of the same number is
// pending for that in the kernel, which keeps one: so it is given to it here, by send().
//
// Only threads between begin() and end() take part; others block in the kernel, as ever. Functions
// are for the calling thread, signal-safe, keep errno, and are not for children made by vfork or
// _Fork, which have a mask of their own in the kernel.
//
// What the kernel restores by itself does not come back here: what a handler has blocked and leaves
// blocked, and what siglongjmp or setcontext unblock.
#ifndef LIBCOZ_SIGNALS_WITHHELD_SIGNALS_H
#define LIBCOZ_SIGNALS_WITHHELD_SIGNALS_H

#include <pthread.h>

#include <array>

#include "signals/signal_bits.h"

namespace coz {

// Signals that are pending, at most one of a number, and of kMost numbers.
class PendingSignals {
 public:
  static constexpr std::size_t kMost = 2;

  // False if it is pending already.
  bool add(const siginfo_t& info) noexcept;
  // The lowest of `wanted`, as a number, which is pending no more; 0 if there is none.
  int take(SignalBits wanted, siginfo_t& info) noexcept;
  void drop(SignalBits unwanted) noexcept;
  SignalBits bits() const noexcept;

 private:
  std::array<siginfo_t, kMost> infos_{};  // si_signo 0: free
};

namespace withheld {

// Threads of higher slots take no part.
inline constexpr std::size_t kMaxThreads = 16384;

// A thread that begins, or becomes profiled, in a slot that no other has: what it blocks of `ours`
// in the kernel is blocked here from now on, and not in the kernel; so is `blocked`. Again the
// other way round, but for `never` (SIGTRAP where there are breakpoint instructions).
void begin(std::size_t slot, SignalBits ours, SignalBits blocked = 0) noexcept;
void end(SignalBits never) noexcept;
// In the child of fork(): its only thread blocks in the kernel what it has blocked here, but for
// `never`. Nothing is pending.
void in_forked_child(SignalBits never) noexcept;
bool takes_part() noexcept;

SignalBits blocked() noexcept;
// What is unblocked by it and pending is handled before this returns.
void set_blocked(SignalBits bits) noexcept;
// For this thread or the process.
SignalBits pending() noexcept;
// For any thread.
bool is_any_pending() noexcept;
// In a handler, or where the thread sends a signal to its process: false if the thread does not
// block the signal, which is then to be handled, or sent.
bool withhold(const siginfo_t& info) noexcept;
// Pending for the thread from now on, which is asked to look. False if it takes no part, and the
// kernel is to be told. Only within the process.
bool send(pid_t thread, const siginfo_t& info) noexcept;
bool send_to_handle(pthread_t thread, const siginfo_t& info) noexcept;
// A signal that only asks the handler to look at what is pending. It may be lost where another of
// its number is pending in the kernel, a sample too: so the handler looks whatever has come.
bool is_knock(const siginfo_t& info) noexcept;
// In a handler, for the signal `came`: what is pending and the thread does not block, as a number,
// or 0. What it blocks and others wait for or do not block, they are asked to look at.
int take_unblocked(int came, siginfo_t& info) noexcept;
// The program ignores these from now on.
void forget(SignalBits bits) noexcept;

// While it lives, the thread waits for signals that it has blocked: those of `wanted` that are
// pending are to be taken, and others stay in the kernel, for sigtimedwait. Not those of `never`.
class Wait {
 public:
  Wait(SignalBits wanted, SignalBits never) noexcept;
  ~Wait();
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;

  // What is pending, as a number, or 0.
  int take(siginfo_t& info) noexcept;
  bool is_for_ours() const noexcept { return wanted_ != 0; }
  // Signals of `never` are wanted: they come to take(), and interrupt calls unless they come just
  // before one.
  bool may_miss() const noexcept { return may_miss_; }

 private:
  SignalBits wanted_ = 0;
  SignalBits kept_ = 0;  // in the kernel
  bool may_miss_ = false;
};

// While it lives, `bits` are blocked here instead of what was: for calls with a mask of their own.
// What they unblock comes within the call.
class Mask {
 public:
  Mask(SignalBits bits, SignalBits never) noexcept;
  ~Mask();
  Mask(const Mask&) = delete;
  Mask& operator=(const Mask&) = delete;

  // One of `never` has been handled: the call is to end with EINTR, without being made.
  bool has_come() const noexcept { return has_come_; }
  // Before each call; `in_call`: what the call's mask blocks in the kernel. A signal of ours that
  // has come since it was blocked there ends the call at once: see call_has_begun().
  void before_call(SignalBits in_call) noexcept;

 private:
  bool has_come_ = false;
  SignalBits before_ = 0;
  SignalBits kept_ = 0;  // in the kernel, which the call's mask does not block
};

// In a handler: has the thread just begun a call with a Mask, which had nothing to end it then but
// signals of ours?
bool call_has_begun() noexcept;

// While it lives, the calling thread, which is the profiler's own, takes signals for others only.
class OutOfProgram {
 public:
  OutOfProgram() noexcept;
  ~OutOfProgram();
  OutOfProgram(const OutOfProgram&) = delete;
  OutOfProgram& operator=(const OutOfProgram&) = delete;
};

// While it lives, what is blocked here is so in the kernel too, but for `never`: a thread that is
// created inherits it.
class InKernel {
 public:
  explicit InKernel(SignalBits never) noexcept;
  ~InKernel();
  InKernel(const InKernel&) = delete;
  InKernel& operator=(const InKernel&) = delete;

 private:
  SignalBits bits_ = 0;
};

}  // namespace withheld
}  // namespace coz

#endif  // LIBCOZ_SIGNALS_WITHHELD_SIGNALS_H
