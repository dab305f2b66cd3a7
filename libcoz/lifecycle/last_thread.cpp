#include "lifecycle/last_thread.h"

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

// The main thread's signal mask: what the program does at its exit runs with it.
sigset_t programs_mask;

// True if there is a thread that is neither one of ours nor the main thread (which stays until the
// process ends, though it has left), or if that is unknown. Counts the links of the folder, since
// to open it would take a descriptor number that the program may count on.
bool others_are_left() noexcept {
  constexpr nlink_t kLinksOfFolder = 2;
  struct stat threads = {};
  if (stat("/proc/self/task", &threads) != 0) return true;
  return threads.st_nlink > kLinksOfFolder + 1 + OwnThread::count();
}

void* exit_after_the_others(void* /*nothing*/) {
  const OwnThread own("coz-exit");
  while (others_are_left()) pause_until(now() + kInterval);
  COZ_REAL(pthread_sigmask)(SIG_SETMASK, &programs_mask, nullptr);
  exit(0);
}

}  // namespace

bool exit_after_the_last() noexcept {
  COZ_REAL(pthread_sigmask)(SIG_BLOCK, nullptr, &programs_mask);
  pthread_t thread{};
  if (start_own_thread(thread, exit_after_the_others, nullptr) != 0) {
    return false;
  }
  pthread_detach(thread);
  return true;
}

}  // namespace coz
