// Sending signals and waiting for them.
#include <signal.h>
#include <unistd.h>

#include "interpose/blocking.h"
#include "interpose/export.h"
#include "interpose/real.h"
#include "interpose/sample_signal.h"

namespace {

using coz::WithoutOurs;
using coz::WokenBy;

// Threads that wait for a signal are found by its number: no object lives at so low an address.
std::uintptr_t key(int signal) { return static_cast<std::uintptr_t>(signal); }

// `wait` returns the signal that came, or a value below 1. errno is as `wait` left it.
template <typename Wait>
COZ_WRAPPER_PART int wait_for_signal(const siginfo_t* info, Wait wait) {
  auto delays = coz::Runtime::current_delays();
  if (!delays) return wait();
  const bool accounted = delays->before_blocking();
  const int came = wait();
  if (!accounted) return came;
  const bool from_here = came > 0 && info != nullptr && info->si_pid == getpid();
  delays->after_blocking(from_here ? WokenBy::kThread : WokenBy::kStranger, key(came));
  return came;
}

// sigwaitinfo, and sigtimedwait with a `timeout`. A signal that was pending already is taken
// without waiting: whoever sent it did not wake us, so there is nothing to be credited.
COZ_WRAPPER_PART int take_signal(const sigset_t* set, siginfo_t* info, const timespec* timeout) {
  const WithoutOurs wanted(set);
  siginfo_t own = {};
  siginfo_t* out = info != nullptr ? info : &own;
  constexpr timespec kAtOnce = {0, 0};
  const int saved = errno;
  if (const int came = COZ_REAL(sigtimedwait)(wanted.get(), out, &kAtOnce); came > 0) return came;
  errno = saved;
  return wait_for_signal(out, [&] {
    coz::Remaining remaining(
        timeout == nullptr ? 0 : timeout->tv_sec * coz::kSecond + timeout->tv_nsec);
    bool is_first = true;
    return coz::past_samples(
        [&] {
          if (timeout == nullptr) return COZ_REAL(sigwaitinfo)(wanted.get(), out);
          const coz::Nanoseconds left = remaining.get();
          const timespec rest = {left / coz::kSecond, left % coz::kSecond};
          const timespec* given = is_first ? timeout : &rest;
          is_first = false;
          return COZ_REAL(sigtimedwait)(wanted.get(), out, given);
        },
        [](int result) { return coz::is_interrupted(result); });
  });
}

COZ_WRAPPER_PART void before_signalling(int signal) {
  if (signal == 0) return;
  if (auto delays = coz::Runtime::current_delays()) delays->before_waking(key(signal));
}

}  // namespace

COZ_EXPORT int pthread_kill(pthread_t thread, int signal) noexcept {
  before_signalling(signal);
  return COZ_REAL(pthread_kill)(thread, signal);
}

COZ_EXPORT int kill(pid_t process, int signal) noexcept {
  before_signalling(signal);
  return COZ_REAL(kill)(process, signal);
}

COZ_EXPORT int killpg(pid_t group, int signal) noexcept {
  before_signalling(signal);
  return COZ_REAL(killpg)(group, signal);
}

COZ_EXPORT int tgkill(pid_t process, pid_t thread, int signal) {
  before_signalling(signal);
  return COZ_REAL(tgkill)(process, thread, signal);
}

COZ_EXPORT int sigqueue(pid_t process, int signal, const sigval value) noexcept {
  before_signalling(signal);
  return COZ_REAL(sigqueue)(process, signal, value);
}

COZ_EXPORT int pthread_sigqueue(pthread_t thread, int signal, const sigval value) noexcept {
  before_signalling(signal);
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
  // A sample must not end the wait; but the program's handlers run with this mask, and may run into
  // breakpoints. (A sample by SIGTRAP is taken while the thread computes, never in a wait.)
  sigset_t own = *mask;
  if (const int signal = coz::sample_signal()) sigaddset(&own, signal);
  if (coz::has_breakpoints()) sigdelset(&own, SIGTRAP);
  return wait_for_signal(nullptr, [&] { return COZ_REAL(sigsuspend)(&own); });
}

COZ_EXPORT int pause() {
  sigset_t mask;
  COZ_REAL(pthread_sigmask)(SIG_BLOCK, nullptr, &mask);
  return sigsuspend(&mask);
}
