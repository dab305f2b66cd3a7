#include "signals/withheld_signals.h"

#include <linux/futex.h>

#include <atomic>
#include <cerrno>

#include "common/clock.h"

namespace coz {

bool PendingSignals::add(const siginfo_t& info) noexcept {
  siginfo_t* free = nullptr;
  for (siginfo_t& each : infos_) {
    if (each.si_signo == info.si_signo) return false;
    if (each.si_signo == 0) free = &each;
  }
  if (free == nullptr) return false;
  *free = info;
  return true;
}

int PendingSignals::take(SignalBits wanted, siginfo_t& info) noexcept {
  siginfo_t* lowest = nullptr;
  for (siginfo_t& each : infos_) {
    if (each.si_signo == 0 || (wanted & bit_of(each.si_signo)) == 0) continue;
    if (lowest == nullptr || each.si_signo < lowest->si_signo) lowest = &each;
  }
  if (lowest == nullptr) return 0;
  info = *lowest;
  lowest->si_signo = 0;
  return info.si_signo;
}

void PendingSignals::drop(SignalBits unwanted) noexcept {
  for (siginfo_t info; take(unwanted, info) != 0;) {
  }
}

SignalBits PendingSignals::bits() const noexcept {
  SignalBits bits = 0;
  for (const siginfo_t& each : infos_) {
    if (each.si_signo != 0) bits |= bit_of(each.si_signo);
  }
  return bits;
}

namespace withheld {
namespace {

// One for each slot of a profiled thread, never freed: a thread that ends by a system call of its
// own leaves it as it is.
struct Thread {
  std::atomic<int> tid;  // 0: takes no part
  std::atomic<pthread_t> handle;
  std::atomic<SignalBits> blocked;
  std::atomic<SignalBits> waited;
  SignalBits never;        // of those that it waits for; its own
  Nanoseconds call_began;  // with a Mask, if nothing was there to end it; 0: not; its own
  PendingSignals pending;  // by the lock
};

std::array<Thread, kMaxThreads> threads{};
std::atomic<std::uint32_t> slots_used{0};
// Of those that take no part, and block nothing here; of those that take none any more, and block
// what they may not block in the kernel; and of threads of our own, which block all.
Thread nobody{};
Thread ended{};
Thread profilers{};

thread_local constinit Thread* own __attribute__((tls_model("initial-exec"))) = &nobody;

bool is_in() noexcept { return own->tid.load() != 0; }

// For any thread that takes part. By the lock.
PendingSignals process_pending;
// Signals that are pending, and those that may be in a moment: a thread that unblocks some looks
// here afterwards, and who withholds one counts it before looking at who blocks it.
std::atomic<std::uint32_t> count{0};

// A futex: a thread of lower priority may have it. 2: others may wait.
std::atomic<std::uint32_t> locked{0};

// With all signals blocked: whoever has it is not interrupted by someone who wants it.
class Lock {
 public:
  Lock() noexcept : mask_(change_kernel_mask(SIG_SETMASK, ~SignalBits{0})) {
    std::uint32_t free = 0;
    if (locked.compare_exchange_strong(free, 1, std::memory_order_acquire)) return;
    while (locked.exchange(2, std::memory_order_acquire) != 0) {
      raw_syscall(SYS_futex, reinterpret_cast<long>(&locked), FUTEX_WAIT_PRIVATE, 2);
    }
  }
  ~Lock() {
    if (locked.exchange(0, std::memory_order_release) == 2) {
      raw_syscall(SYS_futex, reinterpret_cast<long>(&locked), FUTEX_WAKE_PRIVATE, 1);
    }
    change_kernel_mask(SIG_SETMASK, mask_);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  SignalBits mask_;
};

// Has `thread` look at what is pending. False if it is gone.
bool knock(const Thread& thread, int signal) noexcept {
  siginfo_t info = {};
  info.si_signo = signal;
  info.si_code = SI_QUEUE;
  info.si_pid = static_cast<int>(raw_syscall(SYS_getpid));
  info.si_value.sival_ptr = &process_pending;  // a mark that nobody else has
  return raw_syscall(SYS_rt_tgsigqueueinfo, info.si_pid, thread.tid.load(), signal,
                     reinterpret_cast<long>(&info)) != -ESRCH;
}

// With the lock.
int take_pending(SignalBits wanted, siginfo_t& info) noexcept {
  int taken = own->pending.take(wanted, info);
  if (taken == 0) taken = process_pending.take(wanted, info);
  if (taken != 0) count.fetch_sub(1);
  return taken;
}

// The handler is to look at once whether the thread has unblocked what is pending. (Where the
// kernel blocks it: once that is over.)
void knock_self() noexcept {
  if (!is_in() || count.load() == 0) return;
  const Lock lock;
  const SignalBits unblocked =
      (own->pending.bits() | process_pending.bits()) & ~own->blocked.load();
  for (SignalBits rest = unblocked; rest != 0; rest &= rest - 1) {
    knock(*own, __builtin_ctzll(rest) + 1);
  }
}

// Asks threads that wait for a signal that was sent to the process, or else those that do not block
// it. One of them takes it; all are asked, as a thread may be in a handler of its own, or have the
// signal blocked in the kernel by one, and not come to it for long. With the lock.
void ask_others(int signal) noexcept {
  const SignalBits bit = bit_of(signal);
  const int self = own->tid.load();
  bool is_asked = false;
  for (const bool is_waiting : {true, false}) {
    if (is_asked) return;
    for (std::uint32_t slot = 0; slot < slots_used.load(); ++slot) {
      Thread& thread = threads[slot];
      const int tid = thread.tid.load();
      if (tid == 0 || tid == self) continue;
      const bool is_apt = ((is_waiting ? thread.waited.load() : ~thread.blocked.load()) & bit) != 0;
      if (!is_apt) continue;
      if (knock(thread, signal)) {
        is_asked = true;
      } else {
        thread.tid.store(0);
      }
    }
  }
}

// With the lock.
void drop(PendingSignals& pending, SignalBits bits) noexcept {
  const int dropped = __builtin_popcountll(pending.bits() & bits);
  pending.drop(bits);
  count.fetch_sub(static_cast<std::uint32_t>(dropped));
}

// To the first thread that it is: what send() says.
template <typename IsThread>
bool send_to_first(IsThread is_thread, const siginfo_t& info) noexcept {
  const Lock lock;
  const SignalBits bit = bit_of(info.si_signo);
  for (std::uint32_t slot = 0; slot < slots_used.load(); ++slot) {
    Thread& thread = threads[slot];
    if (thread.tid.load() == 0 || !is_thread(thread)) continue;
    count.fetch_add(1);
    if (!thread.pending.add(info)) count.fetch_sub(1);
    const bool is_blocked = (thread.blocked.load() & ~thread.waited.load() & bit) != 0;
    if (is_blocked || knock(thread, info.si_signo)) return true;
    thread.tid.store(0);
    drop(thread.pending, ~SignalBits{0});
    return false;
  }
  return false;
}

void forget_pending(Thread& thread) noexcept {
  if (thread.pending.bits() == 0) return;
  const Lock lock;
  drop(thread.pending, ~SignalBits{0});
}

}  // namespace

void begin(std::size_t slot, SignalBits ours, SignalBits blocked) noexcept {
  if (is_in() || slot >= threads.size()) return;
  const auto tid = static_cast<int>(raw_syscall(SYS_gettid));
  std::uint32_t used = slots_used.load();
  while (used <= slot &&
         !slots_used.compare_exchange_weak(used, static_cast<std::uint32_t>(slot) + 1)) {
  }
  const pthread_t handle = pthread_self();
  // One that has ended without end(), and had our number or handle.
  for (std::uint32_t i = 0; i < used; ++i) {
    if (threads[i].tid.load() == tid || threads[i].handle.load() == handle) threads[i].tid.store(0);
  }
  Thread& thread = threads[slot];
  thread.tid.store(0);
  forget_pending(thread);
  const SignalBits in_kernel = change_kernel_mask(SIG_BLOCK, 0) & ours;
  thread.blocked.store(in_kernel | blocked);
  thread.waited.store(0);
  thread.handle.store(handle);
  thread.tid.store(tid);
  own = &thread;
  if (in_kernel != 0) change_kernel_mask(SIG_UNBLOCK, in_kernel);
  knock_self();
}

void end(SignalBits never) noexcept {
  if (!is_in()) return;
  Thread& thread = *own;
  // First: one that was sent to the process may come at any time.
  if (const SignalBits bits = thread.blocked.load() & ~never) change_kernel_mask(SIG_BLOCK, bits);
  const SignalBits kept = thread.blocked.load() & never;
  ended.blocked.fetch_or(kept);  // never of more than one value
  own = kept == 0 ? &nobody : &ended;
  thread.tid.store(0);
  forget_pending(thread);
}

void in_forked_child(SignalBits never) noexcept {
  // Another thread may have had it.
  locked.store(0);
  count.store(0);
  process_pending = {};
  if (const SignalBits bits = is_in() ? own->blocked.load() & ~never : 0) {
    change_kernel_mask(SIG_BLOCK, bits);
  }
  own = &nobody;
  for (std::uint32_t slot = 0; slot < slots_used.load(); ++slot) {
    threads[slot].tid.store(0);
    threads[slot].pending = {};
  }
}

bool takes_part() noexcept { return is_in(); }

SignalBits blocked() noexcept { return own->blocked.load(); }

void set_blocked(SignalBits bits) noexcept {
  if (!is_in()) return;
  const SignalBits before = own->blocked.exchange(bits);
  if ((before & ~bits) != 0) knock_self();
}

SignalBits pending() noexcept {
  if (count.load() == 0) return 0;
  const Lock lock;
  return own->pending.bits() | process_pending.bits();
}

bool is_any_pending() noexcept { return count.load() != 0; }

bool withhold(const siginfo_t& info) noexcept {
  if ((own->blocked.load() & bit_of(info.si_signo)) == 0) return false;
  const bool is_for_thread = info.si_code == SI_TKILL;
  if (is_for_thread && !is_in()) return true;  // which ends
  const Lock lock;
  count.fetch_add(1);
  if (!(is_for_thread ? own->pending : process_pending).add(info)) count.fetch_sub(1);
  if (!is_for_thread) ask_others(info.si_signo);
  return true;
}

bool send(pid_t thread, const siginfo_t& info) noexcept {
  return send_to_first([=](const Thread& each) { return each.tid.load() == thread; }, info);
}

bool send_to_handle(pthread_t thread, const siginfo_t& info) noexcept {
  return send_to_first([=](const Thread& each) { return each.handle.load() == thread; }, info);
}

bool is_knock(const siginfo_t& info) noexcept {
  return info.si_code == SI_QUEUE && info.si_value.sival_ptr == &process_pending;
}

int take_unblocked(int came, siginfo_t& info) noexcept {
  // Whoever waits blocks it in the kernel, unless it may not be: that wait was left by siglongjmp.
  const SignalBits left = own->waited.load() & bit_of(came) & ~own->never;
  if (left != 0) own->waited.fetch_and(~left);
  if (count.load() == 0) return 0;
  const Lock lock;
  const SignalBits unblocked = is_in() ? ~own->blocked.load() : 0;
  const int taken = take_pending(unblocked, info);
  for (SignalBits rest = process_pending.bits() & ~unblocked; rest != 0; rest &= rest - 1) {
    ask_others(__builtin_ctzll(rest) + 1);
  }
  return taken;
}

void forget(SignalBits bits) noexcept {
  if (count.load() == 0) return;
  const Lock lock;
  drop(process_pending, bits);
  for (std::uint32_t slot = 0; slot < slots_used.load(); ++slot) {
    drop(threads[slot].pending, bits);
  }
}

Wait::Wait(SignalBits wanted, SignalBits never) noexcept {
  if (wanted == 0 || !is_in()) return;
  wanted_ = wanted;
  kept_ = wanted & ~never;
  kept_ &= ~change_kernel_mask(SIG_BLOCK, kept_);
  may_miss_ = (wanted & never) != 0;
  own->never = never;
  own->waited.store(wanted);
}

Wait::~Wait() {
  if (wanted_ == 0) return;
  own->waited.store(0);
  // What has come since goes to the handler now, and is withheld.
  if (kept_ != 0) change_kernel_mask(SIG_UNBLOCK, kept_);
}

int Wait::take(siginfo_t& info) noexcept {
  if (wanted_ == 0 || count.load() == 0) return 0;
  const Lock lock;
  return take_pending(wanted_, info);
}

Mask::Mask(SignalBits bits, SignalBits never) noexcept : before_(own->blocked.load()) {
  if (!is_in()) return;
  const SignalBits unblocked = before_ & ~bits;
  has_come_ = (unblocked & never) != 0 && (pending() & unblocked & never) != 0;
  kept_ = unblocked & ~never;
  if (kept_ != 0) kept_ &= ~change_kernel_mask(SIG_BLOCK, kept_);
  set_blocked(bits);
}

void Mask::before_call(SignalBits in_call) noexcept {
  if (kept_ == 0 || !is_in()) return;
  SignalBits pending = 0;
  raw_syscall(SYS_rt_sigpending, reinterpret_cast<long>(&pending), sizeof pending);
  own->call_began = (pending & ~in_call & ~kept_) == 0 ? now() : 0;
}

Mask::~Mask() {
  if (!is_in()) return;
  own->call_began = 0;
  set_blocked(before_);
  if (kept_ != 0) change_kernel_mask(SIG_UNBLOCK, kept_);
}

// Of the time in which a signal is there that was pending before: some microseconds, and more on a
// busy machine.
constexpr Nanoseconds kJustBegun = 300 * kMicrosecond;

bool call_has_begun() noexcept {
  return own->call_began != 0 && now() - own->call_began < kJustBegun;
}

OutOfProgram::OutOfProgram() noexcept {
  profilers.blocked.store(~SignalBits{0});
  own = &profilers;
}

OutOfProgram::~OutOfProgram() { own = &nobody; }

InKernel::InKernel(SignalBits never) noexcept {
  const SignalBits wanted = own->blocked.load() & ~never;
  if (wanted != 0) bits_ = wanted & ~change_kernel_mask(SIG_BLOCK, wanted);
}

InKernel::~InKernel() {
  if (bits_ != 0) change_kernel_mask(SIG_UNBLOCK, bits_);
}

}  // namespace withheld
}  // namespace coz
