// The program's use of the signal that carries samples, which it may think it has for itself
// (sample_signal.h): what it sets is remembered, not done.
#include <signal.h>

#include "interpose/export.h"
#include "interpose/real.h"
#include "interpose/sample_signal.h"

using coz::WithoutSamples;

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
