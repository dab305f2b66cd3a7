// Sending signals, and waiting for them. For the signals that the profiler takes for itself see
// signals/program_signals.h.
#include <signal.h>
#include <unistd.h>

#include <optional>

#include "interpose/blocking.h"
#include "interpose/export.h"
#include "interpose/signal_wakes.h"
#include "kernel/real.h"
#include "signals/program_signals.h"

namespace {

using coz::program_signals;

using coz::Session;

bool is_tree() { return Session::object_salt() != 0; }
pid_t this_process() { return is_tree() ? Session::own_process() : Session::kAnyProcess; }

// `wait` returns the signal that came, or a value below 1, and `released_by(delays, came)` the key
// of what a thread of the program has sent, or kNoObject. errno is as `wait` left it.
template <typename Wait, typename ReleasedBy>
COZ_WRAPPER_PART int wait_for_signal(Wait wait, ReleasedBy released_by) {
  auto delays = Session::current_delays();
  if (!delays) return wait();
  return coz::rules::wait_released_by(*delays, wait,
                                      [&](int came) { return released_by(*delays, came); });
}

// The key of a signal that another thread has sent to this process since this one blocked, and of
// which `may_be(signal)`. Handlers in this thread may have sent it others meanwhile.
template <typename MayBe>
std::uintptr_t sent_meanwhile(const coz::ThreadDelays& delays, MayBe may_be) {
  for (const pid_t receiver : {this_process(), Session::kAnyProcess}) {
    if (!delays.was_released_by_any(Session::object_of_signal(Session::kAnySignal, receiver)))
      continue;
    for (int signal = 1; signal <= SIGRTMAX; ++signal) {
      const std::uintptr_t key = Session::object_of_signal(signal, receiver);
      if (may_be(signal) && delays.was_released_meanwhile(key)) return key;
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
  // The kernel refuses such a time-out before it takes a signal.
  if (timeout == nullptr || (timeout->tv_sec >= 0 && coz::is_valid(timeout))) {
    const int saved = errno;
    if (const int came = wait_for_one(&own, out, &kAtOnce); came > 0) return came;
    errno = saved;
  }
  const auto wait = [&] {
    return coz::past_samples_within(
        timeout, [&](const timespec* given) { return wait_for_one(&own, out, given); },
        [](int came) { return coz::is_interrupted(came); });
  };
  return wait_for_signal(wait, [](const coz::ThreadDelays& delays, int came) {
    return sent_meanwhile(delays, [=](int signal) { return signal == came; });
  });
}

// `process`: as kill() has it, 0 or less for groups. Without --tree, a signal to another process
// wakes no thread of the program.
COZ_WRAPPER_PART void before_signalling(pid_t process, int signal) {
  if (signal == 0 || (!is_tree() && process > 0 && process != getpid())) return;
  if (auto delays = Session::current_delays()) {
    const pid_t receiver = is_tree() && process > 0 ? process : Session::kAnyProcess;
    delays->before_waking(Session::object_of_signal(Session::kAnySignal, receiver),
                          coz::ReleaseTime::kNoted);
    delays->before_waking(Session::object_of_signal(signal, receiver), coz::ReleaseTime::kNoted);
  }
}

// For signals that a thread sends to a process, which may be its own.
int to_send(pid_t process, int signal) noexcept {
  const int number = program_signals.to_send(signal);
  return number == signal || process == getpid() ? number : signal;
}

}  // namespace

std::uintptr_t coz::signal_that_ended(const ThreadDelays& delays, bool interrupted,
                                      bool may_read) noexcept {
  if (interrupted) return sent_meanwhile(delays, [](int) { return true; });
  if (!may_read) return kNoObject;
  std::optional<sigset_t> blocked;
  return sent_meanwhile(delays, [&](int signal) {
    if (!blocked) {
      const int saved = errno;
      pthread_sigmask(SIG_BLOCK, nullptr, &blocked.emplace());
      errno = saved;
    }
    return sigismember(&*blocked, signal) == 1;
  });
}

COZ_EXPORT int pthread_kill(pthread_t thread, int signal) noexcept {
  before_signalling(this_process(), signal);
  return COZ_REAL(pthread_kill)(thread, program_signals.to_send(signal));
}

COZ_EXPORT int raise(int signal) noexcept {
  return COZ_REAL(raise)(program_signals.to_send(signal));
}

COZ_EXPORT int kill(pid_t process, int signal) noexcept {
  before_signalling(process, signal);
  return COZ_REAL(kill)(process, to_send(process, signal));
}

COZ_EXPORT int killpg(pid_t group, int signal) noexcept {
  before_signalling(-group, signal);
  return COZ_REAL(killpg)(group, signal);
}

COZ_EXPORT int tgkill(pid_t process, pid_t thread, int signal) {
  before_signalling(process, signal);
  return COZ_REAL(tgkill)(process, thread, to_send(process, signal));
}

COZ_EXPORT int sigqueue(pid_t process, int signal, const sigval value) noexcept {
  before_signalling(process, signal);
  return COZ_REAL(sigqueue)(process, to_send(process, signal), value);
}

COZ_EXPORT int pthread_sigqueue(pthread_t thread, int signal, const sigval value) noexcept {
  before_signalling(this_process(), signal);
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
  return wait_for_signal(wait, [&](const coz::ThreadDelays& delays, int) {
    return sent_meanwhile(delays, [=](int signal) { return sigismember(mask, signal) == 0; });
  });
}

COZ_EXPORT int pause() {
  sigset_t mask;
  pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  return sigsuspend(&mask);
}
