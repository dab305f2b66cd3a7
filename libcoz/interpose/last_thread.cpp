#include "interpose/last_thread.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "common/clock.h"
#include "kernel/own_thread.h"
#include "kernel/real.h"

namespace coz {
namespace {

constexpr Nanoseconds kInterval = 5 * kMillisecond;

// Of the main thread: what the program does at its exit runs with it.
sigset_t programs_mask;

// Is there a thread that is neither one of ours nor the main thread, which has left, but stays
// until the process ends? True also when nobody can tell. By the number of links, since the program
// may count on the number of the next descriptor that is opened.
bool others_are_left() noexcept {
  constexpr nlink_t kLinksOfFolder = 2;
  struct stat threads = {};
  if (stat("/proc/self/task", &threads) != 0) return true;
  return threads.st_nlink > kLinksOfFolder + 1 + OwnThread::count();
}

void* exit_after_the_others(void* /*nothing*/) {
  const OwnThread own;
  pthread_setname_np(pthread_self(), "coz-exit");
  while (others_are_left()) pause_until(now() + kInterval);
  pthread_sigmask(SIG_SETMASK, &programs_mask, nullptr);
  exit(0);
}

}  // namespace

bool exit_after_the_last() noexcept {
  sigset_t all;
  sigfillset(&all);
  COZ_REAL(pthread_sigmask)(SIG_SETMASK, &all, &programs_mask);
  pthread_t thread{};
  const bool started =
      COZ_REAL(pthread_create)(&thread, nullptr, exit_after_the_others, nullptr) == 0;
  if (started) pthread_detach(thread);
  COZ_REAL(pthread_sigmask)(SIG_SETMASK, &programs_mask, nullptr);
  return started;
}

}  // namespace coz
