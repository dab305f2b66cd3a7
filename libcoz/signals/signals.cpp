// Sending signals, waiting for them, and asking for those that are pending.
#include <signal.h>
#include <unistd.h>

#include "interpose/blocking.h"
#include "interpose/export.h"
#include "kernel/real.h"
#include "signals/sample_signal.h"

namespace {

using coz::WakeSource;

// Threads that wait for a signal are found by its number: no object lives at so low an address.
std::uintptr_t key(int signal) { return static_cast<std::uintptr_t>(signal); }

// `wait` returns the signal that came, or a value below 1. errno is as `wait` left it.
template <typename Wait>
COZ_WRAPPER_PART int wait_for_signal(const siginfo_t* info, Wait wait) {
  auto delays = coz::Session::current_delays();
  if (!delays) return wait();
  const bool accounted = delays->before_blocking();
  const int came = wait();
  if (!accounted) return came;
  const bool from_here = came > 0 && info != nullptr && info->si_pid == getpid();
  delays->after_blocking(from_here ? WakeSource::kThread : WakeSource::kExternal, key(came));
  return came;
}

bool is_of_profiler(const siginfo_t& info) {
  return coz::is_sample(info) || coz::withheld::is_knock(info);
}

// With the code that libc gives to what it waits for.
int take_withheld(coz::withheld::Wait& wait, siginfo_t& info) {
  const int taken = wait.take(info);
  if (taken != 0 && info.si_code == SI_TKILL) info.si_code = SI_USER;
  return taken;
}

// A signal that is pending.
int take_at_once(const sigset_t* set, siginfo_t* info, coz::withheld::Wait& wait) {
  constexpr timespec kAtOnce = {0, 0};
  for (;;) {
    if (const int withheld = take_withheld(wait, *info)) return withheld;
    const int came = COZ_REAL(sigtimedwait)(set, info, &kAtOnce);
    if (came <= 0 || !is_of_profiler(*info)) return came;
  }
}

// Until a signal comes, a handler of the program's has run, or the time is over.
int take_in_time(const sigset_t* set, siginfo_t* info, const timespec* timeout,
                 coz::withheld::Wait& wait) {
  constexpr coz::Nanoseconds kPart = 100 * coz::kMillisecond;
  // The wait ends with EINTR, too, where another thread has got the signal that woke this one: from
  // there it comes to wait.take() soon.
  constexpr coz::Nanoseconds kGrace = coz::kMillisecond;
  coz::Remaining remaining(timeout == nullptr ? 0 : coz::nanoseconds_of(*timeout));
  coz::Interruptions interruptions;
  const timespec* given = timeout;
  bool is_ending = false;
  for (timespec rest = {};; given = timeout == nullptr ? nullptr : &rest) {
    if (const int withheld = take_withheld(wait, *info)) return withheld;
    const coz::Nanoseconds left = timeout == nullptr ? coz::kSecond : remaining.get();
    const coz::Nanoseconds most = is_ending ? kGrace : kPart;
    const bool is_part = is_ending || (wait.may_miss() && left > most);
    const coz::Nanoseconds part = is_part ? most : left;
    rest = {part / coz::kSecond, part % coz::kSecond};
    const int came = COZ_REAL(sigtimedwait)(set, info, is_part ? &rest : given);
    if (came > 0 && is_of_profiler(*info)) continue;
    if (came > 0) return came;
    if (errno == EINTR && interruptions.any()) continue;
    if (errno == EINTR && wait.is_for_ours() && !is_ending) {
      is_ending = true;
      continue;
    }
    if (is_ending) errno = EINTR;
    if (is_ending || errno != EAGAIN || !is_part) return came;
  }
}

// sigwaitinfo, and sigtimedwait with a `timeout`. A signal that was pending already is taken
// without waiting: whoever sent it did not wake us, so there is nothing to be credited. Of the
// signals that are ours the program gets those that it was sent (signals/withheld_signals.h).
COZ_WRAPPER_PART int take_signal(const sigset_t* set, siginfo_t* info, const timespec* timeout) {
  coz::withheld::Wait wait(coz::bits_of(*set) & coz::kept_for_program(), coz::never_blocked());
  siginfo_t own = {};
  siginfo_t* out = info != nullptr ? info : &own;
  const int saved = errno;
  if (const int came = take_at_once(set, out, wait); came > 0) return came;
  errno = saved;
  return wait_for_signal(out, [&] { return take_in_time(set, out, timeout, wait); });
}

COZ_WRAPPER_PART void before_signalling(int signal) {
  if (signal == 0) return;
  if (auto delays = coz::Session::current_delays()) delays->before_waking(key(signal));
}

siginfo_t info_of(int signal, int code, sigval value = {}) noexcept {
  siginfo_t info = {};
  info.si_signo = signal;
  info.si_code = code;
  info.si_pid = getpid();
  info.si_uid = getuid();
  info.si_value = value;
  return info;
}

// A signal that a thread sends to its own process, and blocks, is pending as the call returns. The
// kernel, which knows nothing of that, might first give it to another thread.
bool stays_pending(pid_t process, int signal, int code, sigval value = {}) noexcept {
  if (!coz::is_ours(signal) || (coz::kept_for_program() & coz::bit_of(signal)) == 0) return false;
  return process == getpid() && coz::withheld::withhold(info_of(signal, code, value));
}

// One for a thread of this process may be given to it without the kernel.
bool is_given_here(int signal) noexcept {
  return coz::is_ours(signal) && coz::Session::is_in_own_process();
}

}  // namespace

COZ_EXPORT int pthread_kill(pthread_t thread, int signal) noexcept {
  before_signalling(signal);
  if (is_given_here(signal) && coz::withheld::send_to_handle(thread, info_of(signal, SI_TKILL))) {
    return 0;
  }
  return COZ_REAL(pthread_kill)(thread, signal);
}

COZ_EXPORT int raise(int signal) noexcept {
  if (is_given_here(signal) && coz::withheld::send(gettid(), info_of(signal, SI_TKILL))) return 0;
  return COZ_REAL(raise)(signal);
}

COZ_EXPORT int kill(pid_t process, int signal) noexcept {
  before_signalling(signal);
  if (stays_pending(process, signal, SI_USER)) return 0;
  return COZ_REAL(kill)(process, signal);
}

COZ_EXPORT int killpg(pid_t group, int signal) noexcept {
  before_signalling(signal);
  return COZ_REAL(killpg)(group, signal);
}

COZ_EXPORT int tgkill(pid_t process, pid_t thread, int signal) {
  before_signalling(signal);
  if (is_given_here(signal) && process == getpid() &&
      coz::withheld::send(thread, info_of(signal, SI_TKILL))) {
    return 0;
  }
  return COZ_REAL(tgkill)(process, thread, signal);
}

COZ_EXPORT int sigqueue(pid_t process, int signal, const sigval value) noexcept {
  before_signalling(signal);
  if (stays_pending(process, signal, SI_QUEUE, value)) return 0;
  return COZ_REAL(sigqueue)(process, signal, value);
}

COZ_EXPORT int pthread_sigqueue(pthread_t thread, int signal, const sigval value) noexcept {
  before_signalling(signal);
  if (is_given_here(signal) &&
      coz::withheld::send_to_handle(thread, info_of(signal, SI_QUEUE, value))) {
    return 0;
  }
  return COZ_REAL(pthread_sigqueue)(thread, signal, value);
}

COZ_EXPORT int sigwait(const sigset_t* set, int* signal) {
  // sigwait does not say who sent the signal, so sigwaitinfo stands in for it; which may fail
  // with EINTR, where sigwait goes on, and says so in errno.
  const int saved = errno;
  int came;
  do {
    came = take_signal(set, nullptr, nullptr);
  } while (came < 0 && errno == EINTR);
  const int error = came < 0 ? errno : 0;
  errno = saved;
  if (error == 0) *signal = came;
  return error;
}

COZ_EXPORT int sigwaitinfo(const sigset_t* set, siginfo_t* info) {
  return take_signal(set, info, nullptr);
}

COZ_EXPORT int sigtimedwait(const sigset_t* set, siginfo_t* info, const timespec* timeout) {
  return take_signal(set, info, timeout);
}

COZ_EXPORT int sigsuspend(const sigset_t* mask) {
  coz::MaskOfCall own(mask);
  return wait_for_signal(nullptr, [&] {
    return coz::past_samples(
        [&] { return own.unless_ended([&] { return COZ_REAL(sigsuspend)(own.get()); }); },
        [](int result) { return coz::is_interrupted(result); });
  });
}

COZ_EXPORT int pause() {
  sigset_t mask;
  pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  return sigsuspend(&mask);
}

COZ_EXPORT int sigpending(sigset_t* set) noexcept {
  const int result = COZ_REAL(sigpending)(set);
  const coz::SignalBits kept = coz::kept_for_program();
  if (result == 0 && kept != 0) {
    const coz::SignalBits ours = coz::withheld::pending() & coz::withheld::blocked();
    coz::assign_bits(*set, (coz::bits_of(*set) & ~kept) | ours);
  }
  return result;
}
