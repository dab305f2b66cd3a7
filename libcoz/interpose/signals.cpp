// Signals: those that wake a waiting thread, and the program's use of the signal that carries
// samples, which it may think it has for itself (sample_signal.h).
#include <signal.h>

#include <cerrno>

#include "interpose/export.h"
#include "interpose/real.h"
#include "interpose/sample_signal.h"
#include "runtime.h"

namespace {

using coz::WokenBy;

// Threads that wait for a signal are found by its number: no object lives at so low an address.
std::uintptr_t key(int signal) { return static_cast<std::uintptr_t>(signal); }

// A copy of `set` without the sample signal; nullptr stays nullptr.
class WithoutSamples {
 public:
  explicit WithoutSamples(const sigset_t* set) : given_(set != nullptr) {
    if (!given_) return;
    copy_ = *set;
    if (const int signal = coz::sample_signal()) sigdelset(&copy_, signal);
  }
  const sigset_t* get() const { return given_ ? &copy_ : nullptr; }

 private:
  bool given_;
  sigset_t copy_{};
};

// `wait` returns the signal that came, or a value below 1. errno is as `wait` left it.
template <typename Wait>
int wait_for_signal(const siginfo_t* info, Wait wait) {
  auto delays = coz::Runtime::current_delays();
  if (!delays) return wait();
  delays->before_blocking();
  const int came = wait();
  const int saved = errno;
  const bool from_here = came > 0 && info != nullptr && info->si_pid == getpid();
  delays->after_blocking(from_here ? WokenBy::kThread : WokenBy::kStranger, {key(came)});
  errno = saved;
  return came;
}

// sigwaitinfo, and sigtimedwait with a `timeout`. A signal that was pending already is taken
// without waiting: whoever sent it did not wake us, so there is nothing to be credited.
int take_signal(const sigset_t* set, siginfo_t* info, const timespec* timeout) {
  const WithoutSamples wanted(set);
  siginfo_t own = {};
  siginfo_t* out = info != nullptr ? info : &own;
  constexpr timespec kAtOnce = {0, 0};
  const int saved = errno;
  if (const int came = COZ_REAL(sigtimedwait)(wanted.get(), out, &kAtOnce); came > 0) return came;
  errno = saved;
  return wait_for_signal(out, [&] {
    return timeout == nullptr ? COZ_REAL(sigwaitinfo)(wanted.get(), out)
                              : COZ_REAL(sigtimedwait)(wanted.get(), out, timeout);
  });
}

void before_signalling(int signal) {
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
  // A sample must not end the wait.
  sigset_t with_samples = *mask;
  if (const int signal = coz::sample_signal()) sigaddset(&with_samples, signal);
  return wait_for_signal(nullptr, [&] { return COZ_REAL(sigsuspend)(&with_samples); });
}

COZ_EXPORT int sigaction(int signal, const struct sigaction* action,
                         struct sigaction* before) noexcept {
  if (signal == 0 || signal != coz::sample_signal()) {
    return COZ_REAL(sigaction)(signal, action, before);
  }
  const struct sigaction was = coz::program_action();
  if (action != nullptr) coz::set_program_action(*action);
  if (before != nullptr) *before = was;
  return 0;
}

COZ_EXPORT sighandler_t signal(int number, sighandler_t handler) noexcept {
  if (number == 0 || number != coz::sample_signal()) return COZ_REAL(signal)(number, handler);
  const struct sigaction was = coz::program_action();
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  coz::set_program_action(action);
  return was.sa_handler;
}

COZ_EXPORT int pthread_sigmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  const WithoutSamples wanted(how == SIG_UNBLOCK ? nullptr : set);
  return COZ_REAL(pthread_sigmask)(how, how == SIG_UNBLOCK ? set : wanted.get(), before);
}

COZ_EXPORT int sigprocmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  const WithoutSamples wanted(how == SIG_UNBLOCK ? nullptr : set);
  return COZ_REAL(sigprocmask)(how, how == SIG_UNBLOCK ? set : wanted.get(), before);
}
