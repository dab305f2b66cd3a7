// Sending signals, and waiting for them. For the signals that the profiler takes for itself see
// signals/program_signals.h.
#include <signal.h>
#include <unistd.h>

#include "interpose/blocking.h"
#include "interpose/export.h"
#include "kernel/real.h"
#include "signals/program_signals.h"

namespace {

using coz::program_signals;
using coz::WakeSource;

// Threads that wait for a signal are found by its number: no object lives at so low an address.
std::uintptr_t key(int signal) { return static_cast<std::uintptr_t>(signal); }

// `wait` returns the signal that came, or a value below 1; `sender_of` that the key of what a
// thread of the program has sent, or kNoObject. errno is as `wait` left it.
template <typename Wait, typename SenderOf>
COZ_WRAPPER_PART int wait_for_signal(Wait wait, SenderOf sender_of) {
  auto delays = coz::Session::current_delays();
  if (!delays) return wait();
  const bool accounted = delays->before_blocking();
  const int came = wait();
  if (!accounted) return came;
  const std::uintptr_t object = sender_of(*delays, came);
  delays->after_blocking(object != coz::kNoObject ? WakeSource::kThread : WakeSource::kExternal,
                         object);
  return came;
}

// A handler has ended a wait with this mask, and nothing says for which signal: the key of one that
// another thread has sent meanwhile, if there is one.
std::uintptr_t sent_meanwhile(const coz::ThreadDelays& delays, const sigset_t& mask) {
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    if (sigismember(&mask, signal) == 0 && delays.was_released_meanwhile(key(signal))) {
      return key(signal);
    }
  }
  return coz::kNoObject;
}

// sigtimedwait() as the program sees it, but that samples may end it. `set` is the kernel's.
int wait_for_one(const sigset_t* set, siginfo_t* info, const timespec* timeout) {
  for (;;) {
    const int came = COZ_REAL(sigtimedwait)(set, info, timeout);
    if (came <= 0) return came;
    if (!coz::ProgramSignals::restore(*info)) continue;
    // As libc has it.
    if (info->si_code == SI_TKILL) info->si_code = SI_USER;
    return info->si_signo;
  }
}

// sigwaitinfo, and sigtimedwait with a `timeout`. A signal that was pending already is taken
// without waiting: whoever sent it did not wake us, so there is nothing to be credited.
COZ_WRAPPER_PART int take_signal(const sigset_t* set, siginfo_t* info, const timespec* timeout) {
  const sigset_t own = program_signals.for_kernel(*set);
  constexpr timespec kAtOnce = {0, 0};
  siginfo_t unwanted;
  siginfo_t* out = info != nullptr ? info : &unwanted;
  const int saved = errno;
  if (const int came = wait_for_one(&own, out, &kAtOnce); came > 0) return came;
  errno = saved;
  const auto wait = [&] {
    return coz::past_samples_within(
        timeout, [&](const timespec* given) { return wait_for_one(&own, out, given); },
        [](int came) { return coz::is_interrupted(came); });
  };
  return wait_for_signal(wait, [&](const coz::ThreadDelays&, int came) {
    return came > 0 && out->si_pid == getpid() ? key(came) : coz::kNoObject;
  });
}

COZ_WRAPPER_PART void before_signalling(int signal) {
  if (signal == 0) return;
  if (auto delays = coz::Session::current_delays()) {
    delays->before_waking(key(signal), coz::ReleaseTime::kNoted);
  }
}

// For signals that a thread sends to a process, which may be its own.
int to_send(pid_t process, int signal) noexcept {
  const int number = program_signals.to_send(signal);
  return number == signal || process == getpid() ? number : signal;
}

}  // namespace

COZ_EXPORT int pthread_kill(pthread_t thread, int signal) noexcept {
  before_signalling(signal);
  return COZ_REAL(pthread_kill)(thread, program_signals.to_send(signal));
}

COZ_EXPORT int raise(int signal) noexcept {
  return COZ_REAL(raise)(program_signals.to_send(signal));
}

COZ_EXPORT int kill(pid_t process, int signal) noexcept {
  before_signalling(signal);
  return COZ_REAL(kill)(process, to_send(process, signal));
}

COZ_EXPORT int killpg(pid_t group, int signal) noexcept {
  before_signalling(signal);
  return COZ_REAL(killpg)(group, signal);
}

COZ_EXPORT int tgkill(pid_t process, pid_t thread, int signal) {
  before_signalling(signal);
  return COZ_REAL(tgkill)(process, thread, to_send(process, signal));
}

COZ_EXPORT int sigqueue(pid_t process, int signal, const sigval value) noexcept {
  before_signalling(signal);
  return COZ_REAL(sigqueue)(process, to_send(process, signal), value);
}

COZ_EXPORT int pthread_sigqueue(pthread_t thread, int signal, const sigval value) noexcept {
  before_signalling(signal);
  return COZ_REAL(pthread_sigqueue)(thread, program_signals.to_send(signal), value);
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
  const sigset_t own = program_signals.mask_of_wait(*mask);
  const auto wait = [&] {
    const coz::Interruptions of_this_call;
    return COZ_REAL(sigsuspend)(&own);
  };
  return wait_for_signal(
      wait, [&](const coz::ThreadDelays& delays, int) { return sent_meanwhile(delays, *mask); });
}

COZ_EXPORT int pause() {
  sigset_t mask;
  pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  return sigsuspend(&mask);
}
