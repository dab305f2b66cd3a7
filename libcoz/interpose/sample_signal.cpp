#include "interpose/sample_signal.h"

#include <unistd.h>

#include <atomic>

#include "interpose/real.h"
#include "os/raw_syscall.h"
#include "runtime.h"
#include "sample/sample_source.h"

#ifndef TRAP_PERF
#define TRAP_PERF 6
#endif

namespace coz {
namespace {

std::atomic<int> signal_in_use{0};
struct sigaction trap_before;
struct sigaction own_before;
struct sigaction program_action_now;

bool is_sample(int signal, const siginfo_t* info) noexcept {
  if (signal == SIGTRAP) return info->si_code == TRAP_PERF;
  // From a perf descriptor (POLL_IN), or from our timer thread (SI_TKILL).
  return info->si_code != SI_USER && info->si_code != SI_QUEUE;
}

// The program's own handler, as the kernel would have called it.
void forward(int signal, siginfo_t* info, void* context) noexcept {
  const struct sigaction action = program_action_now;
  if (action.sa_handler == SIG_IGN) return;
  if (action.sa_handler == SIG_DFL) {
    COZ_REAL(sigaction)(signal, &action, nullptr);
    raw_syscall(SYS_tgkill, raw_syscall(SYS_getpid), raw_syscall(SYS_gettid), signal);
    return;  // it is blocked here, and takes effect on return
  }
  sigset_t before;
  COZ_REAL(pthread_sigmask)(SIG_BLOCK, &action.sa_mask, &before);
  if ((action.sa_flags & SA_SIGINFO) != 0) {
    action.sa_sigaction(signal, info, context);
  } else {
    action.sa_handler(signal);
  }
  COZ_REAL(pthread_sigmask)(SIG_SETMASK, &before, nullptr);
}

// Runs on the thread's own stack, not the alternate one, which may be small.
void handle(int signal, siginfo_t* info, void* context) noexcept {
  if (!is_sample(signal, info)) {
    forward(signal, info, context);
    return;
  }
  Runtime* runtime = Runtime::active();
  ThreadState* thread = Runtime::current_thread();
  if (runtime == nullptr || thread == nullptr) return;
  thread->in_handler.store(true, std::memory_order_relaxed);
  thread->interruptions.fetch_add(1, std::memory_order_relaxed);
  ThreadDelays delays(*thread, runtime->delay_environment());
  runtime->sampler().sample(context, *thread, delays);
  thread->in_handler.store(false, std::memory_order_relaxed);
}

void install(int signal, struct sigaction& before) noexcept {
  struct sigaction action = {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigemptyset(&action.sa_mask);
  COZ_REAL(sigaction)(signal, &action, &before);
}

}  // namespace

void install_sample_handler() noexcept {
  install(sampling_signal(Sampling::kPerfTrap), trap_before);
  install(sampling_signal(Sampling::kPerfSignal), own_before);
}

void set_sample_signal(int signal) noexcept {
  const int trap = sampling_signal(Sampling::kPerfTrap);
  const int own = sampling_signal(Sampling::kPerfSignal);
  if (signal != trap) COZ_REAL(sigaction)(trap, &trap_before, nullptr);
  if (signal != own) COZ_REAL(sigaction)(own, &own_before, nullptr);
  program_action_now = signal == trap ? trap_before : own_before;
  signal_in_use.store(signal, std::memory_order_release);
  if (signal == 0) return;
  // The program may have been started with it blocked.
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  COZ_REAL(pthread_sigmask)(SIG_UNBLOCK, &only, nullptr);
}

int sample_signal() noexcept { return signal_in_use.load(std::memory_order_acquire); }

struct sigaction program_action() noexcept { return program_action_now; }

void set_program_action(const struct sigaction& action) noexcept { program_action_now = action; }

}  // namespace coz
